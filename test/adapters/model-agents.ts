// Agents and nodes that ask an endpoint through an adapter: whole runs, on the store of the place.
import { agent, compile, graph, isHeddleError, tool, type Message, type Store } from 'heddle'
import { equal, fits, pause, rowsOf } from '../behaviours/portable.ts'
import { callStream, chunk, greeting, oneCall, piece, sse, usage } from '../fakes/chat-shapes.ts'
import { silent } from '../fakes/silent.ts'
import type { At } from './openai.tools.ts'

type Table = Readonly<Record<string, (reopen: () => Promise<Store>) => Promise<void>>>
type Args = { readonly a: number }

const CANARY = 'canary-4f1d'
const isArgs = (value: unknown): value is Args => typeof Object(value).a === 'number'
const say = (text: string) => ({ messages: [{ role: 'user' as const, text }] })

/** Whole runs. */
export function agentCases(at: At): Table {
  return {
    'an agent calls, hears of it and answers; ids that come again stay apart (B32)': (reopen) => {
      const numbered = (a: number) =>
        callStream([
          [piece(0, '0', 'add', `{"a":${a}}`)],
          [piece(1, '0', 'add', `{"a":${a + 1}}`)],
        ]).replace('data: [DONE]', sse(usage({ prompt_tokens: 10, completion_tokens: 5 })).trim())
      const answers = [{ body: numbered(1), cut: 7 }, { body: numbered(3) }, { body: greeting }]
      return at(answers, async ({ model, endpoint }) => {
        const { add, done } = adding()
        const app = compile(agent({ name: 'adder', model, tools: [add] }), {
          store: await reopen(),
        })
        const outcome = await app.run({ thread: 't', input: say('Add') })
        equal(outcome.status, 'success', 'status')
        equal(done.toSorted(), [1, 2, 3, 4], 'done')
        const { messages } = outcome.state as { messages: readonly Message[] }
        equal(messages.at(-1)?.text, 'Grüße, 世界 👋🏽', 'answer')
        const calls = messages.flatMap((one) => ('calls' in one ? (one.calls ?? []) : []))
        equal(new Set(calls.map(({ id }) => id)).size, 4, 'ids of ours')
        const wire = endpoint.seen[2]!.body['messages'] as readonly Wire[]
        const asked = wire.flatMap((one) => (one.tool_calls ?? []).map(({ id }) => id))
        // Providers of the AI SDK make up an id where one comes twice in an answer.
        equal([new Set(asked).size, asked[0]], [4, '0'], 'ids on the wire')
        equal(
          wire.flatMap((one) => one.tool_call_id ?? []),
          asked,
          'results',
        )
        const { input, output } = outcome.usage
        equal([input, output], [29, 15], 'usage')
      })
    },

    'a call of a stream that broke off never runs, and the next turn goes on': (reopen) => {
      const half = sse(chunk({ content: 'I will' })) + oneCall.slice(0, -120)
      return at(
        [{ body: half, ending: 'lost' }, { body: greeting }],
        async ({ model, endpoint }) => {
          const { add, done } = adding()
          const app = compile(agent({ name: 'adder', model, tools: [add] }), {
            store: await reopen(),
            logger: silent,
          })
          const error = await app.run({ thread: 't', input: say('Add') }).catch((thrown) => thrown)
          equal(isHeddleError(error, 'model_error'), true, String(error))
          const { state } = await app.run({ thread: 't', input: say('Go on') })
          equal(done, [], 'done')
          equal(
            (state as { messages: readonly Message[] }).messages.map(({ text }) => text),
            ['Add', 'I will', 'Go on', 'Grüße, 世界 👋🏽'],
            'messages',
          )
          const wire = endpoint.seen[1]!.body['messages'] as readonly Wire[]
          equal(
            wire.map(({ role, content, tool_calls }) => [role, content, tool_calls]),
            [
              ['user', 'Add', undefined],
              ['assistant', 'I will', undefined],
              ['user', 'Go on', undefined],
            ],
            'what the model read',
          )
        },
      )
    },

    'a node asks for a shape, and gets it': (reopen) => {
      const body = sse(chunk({ content: '{"a":' }), chunk({ content: '7}' }, 'stop'))
      return at([{ body, cut: 5 }], async ({ model, endpoint }) => {
        const plain = fits(isArgs, 'no number')
        const output = { ...plain, '~standard': { ...plain['~standard'], jsonSchema } }
        const asking = graph({
          name: 'asking',
          state: { a: fits((value): value is number => typeof value === 'number', 'no number') },
          nodes: {
            ask: async (_, ctx) => {
              const reply = await ctx.generate(model, { messages: 'A number', output })
              return { a: reply.output.a }
            },
          },
          edges: { start: 'ask', ask: 'end' },
        })
        const app = compile(asking, { store: await reopen() })
        const { state } = await app.run({ thread: 't', input: { a: 0 } })
        equal(state.a, 7, 'output')
        const format = endpoint.seen[0]!.body['response_format'] as { type: string }
        equal(format.type, 'json_schema', 'format')
      })
    },

    'an abort of the run is one of the request': (reopen) =>
      at(
        [{ body: sse(chunk({ content: 'So ' })), ending: 'open' }],
        async ({ model, endpoint }) => {
          const app = compile(agent({ name: 'talker', model }), { store: await reopen() })
          const stop = new AbortController()
          const stream = app.stream({ thread: 't', input: say('Hi'), signal: stop.signal })
          let error: unknown
          try {
            for await (const event of stream)
              if (event.kind === 'backend') stop.abort(new Error('enough'))
          } catch (thrown) {
            error = thrown
          }
          equal(error, stop.signal.reason, 'error')
          await endpoint.left
        },
      ),

    'no key is in the store, in an event, in a log or in an error': (reopen) => {
      const echo = { error: { message: `No such key: ${CANARY}; Bearer sk-${CANARY}` } }
      const answers = [
        {
          status: 401,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(echo),
        },
        { body: sse(chunk({ content: 'So ' }), echo) },
        { body: greeting },
      ]
      const headers = { authorization: `Bearer ${CANARY}`, 'x-key': CANARY }
      const seen: unknown[] = []
      const note = (...parts: unknown[]): void => void seen.push(...parts)
      const work = async (model: Parameters<Parameters<At>[1]>[0]['model']): Promise<void> => {
        const store = await reopen()
        const logger = { debug: note, info: note, warn: note, error: note }
        const app = compile(agent({ name: 'talker', model }), { store, logger })
        for (const _ of answers)
          try {
            for await (const event of app.stream({ thread: 't', input: say('Hi') })) note(event)
          } catch (error) {
            note(error)
          }
        await pause(1)
        seen.push(...(await rowsOf(store)))
        equal(seen.length > 10, true, 'seen')
        for (const one of seen) equal(written(one).includes('canary'), false, written(one))
      }
      return at(answers, ({ model }) => work(model), { headers })
    },
  }
}

interface Wire {
  readonly role: string
  readonly content: unknown
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

const jsonSchema = {
  input: () => ({ type: 'object', properties: { a: { type: 'number' } } }),
  output: () => ({ type: 'object', properties: { a: { type: 'number' } } }),
}

function adding() {
  const done: number[] = []
  const add = tool({
    name: 'add',
    description: 'Adds',
    input: fits(isArgs, 'no number'),
    parameters: { type: 'object', properties: { a: { type: 'number' } } },
    run: ({ a }) => {
      done.push(a)
      return a
    },
  })
  return { add, done }
}

/** All there is to a value, causes of errors included. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof Error
      ? { ...one, message: one.message, stack: one.stack, cause: one.cause }
      : one,
  )
}
