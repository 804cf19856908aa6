import type { Message, Model, ModelEvent } from 'heddle'
import model from 'wink-eng-lite-web-model'
import winkNLP from 'wink-nlp'
import { trainUnderstanding, type Understand } from './understand.ts'

/** What the model does next: it says something, or calls a tool. */
type Move = string | { readonly tool: string; readonly args: object }

/** An order as `find_order` gives it. */
interface Order {
  readonly total: number
  readonly state: string
}

/**
 * A model for a shop's support desk that runs where the program runs, without a network. It is a small NLU model
 * (wink-nlp and nlp.js), not an LLM: it reads what is wanted and of which order, calls the tools `find_order` and
 * `refund` as an LLM would, and answers from templates. Training takes some 100 ms. It counts tokens as wink does.
 */
export async function localNlu(): Promise<Model> {
  const understand = await trainUnderstanding()
  const wink = winkNLP(model, ['sbd'])
  const count = (text: string): number => (text === '' ? 0 : wink.readDoc(text).tokens().length())
  return {
    provider: 'local',
    model: 'nlu',
    async *stream({ instructions = '', messages, tools = [] }): AsyncGenerator<ModelEvent> {
      const offered = new Set(tools.map(({ name }) => name))
      const { thought, move } = await think(understand, messages, offered)
      yield { kind: 'reasoning', delta: thought }
      const said = typeof move === 'string' ? move : JSON.stringify(move.args)
      if (typeof move === 'string')
        for (const delta of move.match(/\S+\s*/g) ?? []) yield { kind: 'text', delta }
      else yield { kind: 'call', id: `nlu-${messages.length}`, tool: move.tool, raw: said }
      const input = messages.reduce((sum, { text }) => sum + count(text), count(instructions))
      const usage = { input, output: count(said) }
      yield { kind: 'finish', reason: typeof move === 'string' ? 'stop' : 'calls', usage }
    },
  }
}

/** Reads what the customer wants, and what has been found out since they said it. */
async function think(
  understand: Understand,
  messages: readonly Message[],
  offered: ReadonlySet<string>,
): Promise<{ readonly thought: string; readonly move: Move }> {
  const said = messages.filter(({ role }) => role === 'user')
  const read = await Promise.all(said.map(({ text }) => understand(text)))
  const last = read.at(-1)
  if (!last) return { thought: 'nobody said anything', move: 'How can I help you?' }
  // A number alone answers the question which order it is about.
  const answers = last.intent === 'other' && last.orders.length > 0
  const { intent, confidence } = (answers && read.at(-2)) || last
  const order = read.findLast(({ orders }) => orders.length > 0)?.orders[0]
  const results = messages.slice(messages.indexOf(said.at(-1)!)).filter(isResult)
  const move = decide({ intent, order, amount: last.amount, results, offered })
  return { thought: `${intent} ${order ?? ''}, ${confidence.toFixed(2)}`, move }
}

type Result = Extract<Message, { role: 'tool' }>

function decide({
  intent,
  order,
  amount,
  results,
  offered,
}: {
  readonly intent: string
  readonly order: string | undefined
  readonly amount: number | undefined
  readonly results: readonly Result[]
  readonly offered: ReadonlySet<string>
}): Move {
  const wantsMoney = intent === 'refund' && offered.has('refund')
  if ((intent !== 'status' && !wantsMoney) || !offered.has('find_order'))
    return 'I can tell you where an order is, or send its money back. What can I do for you?'
  if (order === undefined) return 'What is the number of the order?'
  const found = results.findLast(({ tool }) => tool === 'find_order')
  if (!found) return { tool: 'find_order', args: { order } }
  if (!isOrder(found.value)) return `I can't find an order ${order}. What is its number?`
  const { total, state } = found.value
  if (!wantsMoney) return `Order ${order} over ${money(total)} is ${state}.`
  const refund = results.findLast(({ tool }) => tool === 'refund')
  if (!refund) return { tool: 'refund', args: { order, amount: amount ?? total } }
  if (refund.status === 'success') return `The money for order ${order} is on its way to you.`
  return `The money for order ${order} stays here: ${refund.text.replace(/^Denied: /, '')}`
}

const isResult = (message: Message): message is Result => message.role === 'tool'

const money = (amount: number): string => `$${amount.toFixed(2)}`

function isOrder(value: unknown): value is Order {
  return typeof value === 'object' && value !== null && 'total' in value && 'state' in value
}
