// What the tests of requests to models share: models that say exactly this, and a place outside threads to ask them from.
import {
  canonicalJson,
  tool,
  type Generate,
  type Message,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type Reply,
  type Schema,
  type Tool,
  type ToolContext,
} from 'heddle'
import { equal } from '../behaviours/portable.ts'
import { does, executorOf, schemaOf } from '../tool/parts.ts'

type Options = Parameters<typeof executorOf>[1]

/** What a model may do instead of saying something. */
export type Deed = ModelEvent | Error | Promise<unknown> | object

/** A model that does what it is told, event by event, and how it was treated. */
export interface Told extends Model {
  readonly requests: ModelRequest[]
  /** Our ids of the requests. */
  readonly ids: string[]
  readonly signals: AbortSignal[]
  /** How often iterators were told that nobody reads on. */
  returns: number
}

/** Says what it is told: an error is thrown, a promise is waited for, and a list per request is one after the other. */
export function says(...turns: readonly (readonly Deed[])[]): Told {
  const told: Told = {
    provider: 'p',
    model: 'm',
    requests: [],
    ids: [],
    signals: [],
    returns: 0,
    stream(request, { signal, call }) {
      const deeds = [...(turns[told.requests.length] ?? [])]
      told.requests.push(request)
      told.ids.push(call)
      told.signals.push(signal)
      return {
        [Symbol.asyncIterator]: () => ({
          async next(): Promise<IteratorResult<ModelEvent>> {
            for (;;) {
              if (deeds.length === 0) return { done: true, value: undefined }
              const deed = deeds.shift()
              if (deed instanceof Error || deed instanceof DOMException) throw deed
              if (!(deed instanceof Promise)) return { done: false, value: deed as ModelEvent }
              await deed
            }
          },
          async return() {
            told.returns++
            return { done: true, value: undefined }
          },
        }),
      }
    },
  }
  return told
}

export const text = (delta: string): ModelEvent => ({ kind: 'text', delta })
export const finish: ModelEvent = { kind: 'finish', reason: 'stop' }
export const never = (): Promise<never> => new Promise(() => {})

/** Asks from a tool of an executor. */
export function asking(
  model: Model,
  // oxlint-disable-next-line typescript/no-explicit-any -- tests ask for what makes no sense, too
  request: Generate<any> | any = { messages: 'hi' },
  options: Options = {},
  more: { readonly signal?: AbortSignal } = {},
): Promise<Reply<unknown>> {
  return within((ctx) => ctx.generate(model, request), options, more) as Promise<Reply<unknown>>
}

/** Does something in a tool of an executor. */
export function within(
  work: (ctx: ToolContext) => unknown,
  options: Options = {},
  more: { readonly signal?: AbortSignal; readonly run?: string } = {},
): Promise<unknown> {
  let outcome: unknown
  // By reference, past what tools give back: only copies of that.
  const asks = does('asks', async (_, ctx) => void (outcome = await work(ctx)))
  return executorOf([asks], options)
    .run('asks', {}, more)
    .then(() => outcome)
}

/** A schema that tells its JSON Schema, as zod's do. */
export function telling<Value>(
  wrong: (value: unknown) => string | undefined,
  make?: (value: never) => Value,
): Schema<Value, Value> {
  const schema = schemaOf<Value>(wrong, make)
  const standard = {
    ...schema['~standard'],
    jsonSchema: { input: () => ({ type: 'object', title: 'told' }) },
  }
  return { '~standard': standard } as Schema<Value, Value>
}

/** Takes `{ n: number }`, and tells so. */
export const numbered = telling<{ n: number }>((value) =>
  typeof Object(value).n === 'number' ? undefined : 'n should have been a number',
)

/** A tool that a model can call. */
export const callable: Tool = tool({
  name: 'look_up',
  description: 'Looks things up',
  input: numbered,
  run: () => 'found',
})

/** Messages without what is made up. */
export const bare = (messages: readonly Message[]): readonly object[] =>
  messages.map(({ id: _, createdAt: __, ...rest }) => rest)

/** Holds a value against another as JSON: the order of members doesn't matter. */
export const same = (actual: unknown, expected: unknown, what: string): void =>
  equal(canonicalJson(actual), canonicalJson(expected), what)
