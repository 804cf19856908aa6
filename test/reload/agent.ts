// One story of an agent, told visit by visit: each opens the store anew, in a page, an isolate or a process that knows
// nothing of the one before.
import * as z from 'zod'
import { agent, approval, compile, ThreadRunner, tool } from 'heddle'
import type { Model, ModelEvent, Outcome, StreamEvent, Store } from 'heddle'
import { countingIds, manualClock } from 'heddle/testing'
import { canonical } from '../runtime/canonical.ts'

/** Tells something of a visit, in canonical JSON. */
export type Tell = (what: string, value: unknown) => void

const thread = 'ann/1 ✓'
const TIMES = { ask: '08', answer: '09', 'go on': '10', look: '11' }
type Phase = keyof typeof TIMES

/**
 * Does what is next on the thread: asks, answers, says thanks, looks at what has come of it.
 *
 * @param tell Is told everything, in order, as it happens
 * @returns Whether there is more to be done, after a reload
 */
export async function visit(store: Store, line: (text: string) => void): Promise<boolean> {
  const tell: Tell = (what, value) => line(`${what} ${canonical(value)}`)
  const { promise: heard, resolve: hear } = settleable()
  const ids = countingIds()
  let phase: Phase = 'ask'
  const clock = manualClock()
  const app = compile(support(tell, heard), {
    store,
    clock,
    newId: (prefix) => ids(`${prefix}${phase.replace(' ', '')}`),
    random: () => 0.5,
  })
  const before = await app.state(thread)
  if (before)
    phase =
      before.status === 'interrupted'
        ? 'answer'
        : before.state.messages.length > 8
          ? 'look'
          : 'go on'
  clock.set(`2026-03-01T${TIMES[phase]}:00:00Z`)
  tell('visit', phase)

  const follow = async (
    run: AsyncIterable<StreamEvent<string, unknown, unknown>> & { outcome: Promise<Outcome> },
  ) => {
    for await (const event of run) {
      tell('event', event)
      if (event.kind === 'backend') hear()
    }
    tell('outcome', await run.outcome)
  }
  switch (phase) {
    case 'ask': {
      const messages = [{ role: 'user', text: 'Please refund order 7' }] as const
      await follow(app.stream({ thread, input: { messages }, user: 'ann' }))
      break
    }
    case 'answer': {
      const [open, ...more] = await app.interruptions()
      tell('inbox', [open, ...more])
      const answer = { approve: true, args: { order: '7', amount: 40 } } as const
      await follow(
        app.stream({ thread, answers: approval.reply(open as never, answer), user: 'desk' }),
      )
      break
    }
    case 'go on': {
      hear()
      const runner = new ThreadRunner({ app, thread, user: 'ann' })
      tell('outcome', await runner.continueTurn('  Thanks, what was it? '))
      break
    }
    case 'look': {
      tell('state', await app.state(thread))
      let last: string | undefined
      for await (const run of app.runs(thread)) {
        last ??= run.id
        tell('run', run)
      }
      for await (const event of app.subscribe(thread, { run: last! })) tell('logged', event)
      for (const message of await app.messages(thread)) tell('message', message)
      tell('answered', await app.interruptions({ status: 'answered' }))
    }
  }
  return phase !== 'look'
}

/** An agent whose tools tell what they do, each time that they do it. */
function support(tell: Tell, heard: Promise<void>) {
  const findOrder = tool({
    name: 'find_order',
    description: 'Looks an order up.',
    input: z.object({ order: z.string() }),
    run: ({ order }) => {
      tell('does', `find ${order}`)
      return { order, total: 60 }
    },
  })
  const refund = tool({
    name: 'refund',
    description: 'Pays money back.',
    input: z.object({ order: z.string(), amount: z.number().positive() }),
    approve: ({ amount }) => amount > 50,
    run: ({ order, amount }, ctx) => {
      tell('does', `pay ${amount} for ${order}`)
      return { receipt: ctx.callId }
    },
  })
  const write = tool({
    name: 'write',
    description: 'Writes to a customer.',
    input: z.object({ text: z.string() }),
    run: async ({ text }, ctx) => {
      tell('does', `write "${text}"`)
      await ctx.emit({ sent: text.length })
      return 'sent'
    },
  })
  return agent({
    name: 'support',
    model: rules(tell, heard),
    instructions: ({ messages }) => `Be brief: ${messages.length} messages so far.`,
    tools: [findOrder, refund, write],
    maxTurns: 5,
  })
}

/** A model by rules: what it says follows from what it reads. It doesn't go on with a text of which nothing was heard. */
function rules(tell: Tell, heard: Promise<void>): Model {
  return {
    provider: 'story',
    model: 'rules',
    async *stream({ instructions, messages }): AsyncGenerator<ModelEvent> {
      tell('is asked', { instructions, messages: messages.map(({ role, text }) => [role, text]) })
      const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
      const results = since.filter(({ role }) => role === 'tool').length
      const thanked = messages.filter(({ role }) => role === 'user').length > 1
      yield { kind: 'reasoning', delta: `${results} results, ` }
      yield { kind: 'reasoning', delta: thanked ? 'nothing to do' : 'go on' }
      const call = (id: string, name: string, args: object): ModelEvent => ({
        kind: 'call',
        id,
        tool: name,
        raw: JSON.stringify(args),
      })
      const usage = { input: messages.length * 10, output: 5, cacheRead: results }
      if (thanked || results === 3) {
        yield { kind: 'text', delta: thanked ? 'It was ' : 'Done: 40 ' }
        await heard
        yield { kind: 'text', delta: thanked ? 'the kettle 🫖.' : 'are on their way 🫖.' }
        yield { kind: 'finish', reason: 'stop', usage }
        return
      }
      yield { kind: 'text', delta: results === 0 ? 'Let me ' : 'I ask ' }
      await heard
      yield { kind: 'text', delta: results === 0 ? 'look.' : 'for it.' }
      yield { kind: 'usage', usage: { ...usage, output: 3 } }
      if (results === 0) yield call('a', 'find_order', { order: '7' })
      else {
        // Of two calls in one turn one waits for a person, and the other one doesn't.
        yield call('a', 'refund', { order: '7', amount: 60 })
        yield call('b', 'write', { text: 'We look into it' })
      }
      yield { kind: 'finish', reason: 'calls', usage }
    },
  }
}

function settleable(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
