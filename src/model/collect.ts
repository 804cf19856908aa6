import { isHeddleError, ModelError } from '../errors.ts'
import { errorType } from '../hook/name.ts'
import type { Watch, Bounds } from '../lib/within.ts'
import type { TokenUsage } from '../usage.ts'
import type { Generate } from './ask.ts'
import type { FinishReason, Model, ModelEvent, ModelRequest } from './model.ts'

/** What a model has said so far. */
export interface Heard {
  text: string
  reasoning: string
  readonly calls: { readonly id: string | undefined; readonly tool: string; readonly raw: string }[]
  usage?: TokenUsage
  finish?: FinishReason
}

/** What a model is heard with. */
export interface Hearing {
  /** Our id of the request. */
  readonly call: string
  /** What is heard is put in here. */
  readonly heard: Heard
  readonly onEvent: Generate<unknown>['onEvent']
  /** Called when the model has said everything. */
  readonly said: () => void
  /** Called when the model is given up, before anybody hears of it. */
  readonly lost: () => void
  readonly watch: Watch
  readonly bounds: Bounds
}

/**
 * Hears a model out.
 *
 * @throws ModelError for what the model throws, and for a stream that breaks off or makes no sense; what `onEvent` throws;
 *   the reason of the signal; a `TimeoutError`
 */
export async function hear(
  model: Model,
  request: ModelRequest,
  { call, heard, onEvent, said, lost, watch, bounds }: Hearing,
): Promise<void> {
  const own = new AbortController()
  let iterator: AsyncIterator<ModelEvent> | undefined
  let over = false
  const halt = (reason: unknown): void => {
    over = true
    lost()
    own.abort(reason)
  }
  const listen = async (): Promise<void> => {
    iterator = await done(model, () =>
      model.stream(request, { signal: own.signal, call })[Symbol.asyncIterator](),
    )
    while (!over && heard.finish === undefined) {
      let event: ModelEvent | undefined
      // Events are the model's, and so are members of them that throw.
      await done(model, async () => {
        const next = Object(await iterator!.next()) as IteratorResult<ModelEvent>
        if (over) return
        if (next.done) throw broken(model, 'its stream ended without "finish"')
        const { value } = next
        if (take(model, heard, value)) event = value
      })
      if (event && !over) await onEvent?.(event)
    }
    if (!over) said()
  }
  try {
    await watch.wait(listen, { ...bounds, what: `Model "${model.provider}/${model.model}"`, halt })
  } catch (error) {
    if (!over) halt(error)
    throw error
  } finally {
    over = true
    // Nobody waits for it: it may never settle.
    ;(async () => iterator?.return?.())().catch(() => {})
  }
}

/** What a model does. The words of its provider stay out of its failure, as they may hold secrets; they are in the `cause`. */
async function done<Value>(model: Model, work: () => Value): Promise<Awaited<Value>> {
  try {
    return await work()
  } catch (cause) {
    if (isHeddleError(cause)) throw cause
    throw broken(model, `it failed with ${errorType(cause)}`, { cause })
  }
}

function broken({ provider, model }: Model, why: string, options?: ErrorOptions): ModelError {
  const message = `Cannot ask model "${provider}/${model}": ${why}`
  return new ModelError(message, { provider, model }, options)
}

/** An event of any kind, which may make no sense. */
interface Odd {
  readonly [member: string]: unknown
}

/** Adds an event to what was heard; tells whether it is of a known kind. */
function take(model: Model, heard: Heard, event: ModelEvent): boolean {
  const { kind, delta, id, tool, raw, usage, reason = 'other', loaded } = Object(event) as Odd
  const assert = (good: unknown): void => {
    if (!good) throw broken(model, `an event "${String(kind)}" makes no sense`)
  }
  const texts = (...values: unknown[]): void =>
    assert(values.every((value) => typeof value === 'string'))
  switch (kind) {
    case 'text':
    case 'reasoning':
      texts(delta)
      heard[kind] += delta as string
      return true
    case 'args':
      texts(id ?? '', tool ?? '', delta)
      return true
    case 'call':
      texts(id ?? '', tool, raw)
      heard.calls.push({ id: id || undefined, tool, raw } as Heard['calls'][number])
      return true
    case 'download':
      assert(typeof loaded === 'number')
      return true
    case 'usage':
    case 'finish':
      assert(usage === undefined ? kind === 'finish' : Object(usage) === usage)
      // What is no number wasn't reported.
      if (usage)
        heard.usage = Object.fromEntries(
          Object.entries(usage as TokenUsage).filter(
            ([, figure]) => Number.isFinite(figure) && figure >= 0,
          ),
        )
      if (kind === 'usage') return true
      texts(reason)
      if (reason === 'error') throw broken(model, 'it finished with an error')
      heard.finish = REASONS.includes(reason as string) ? (reason as FinishReason) : 'other'
      return true
  }
  assert(kind !== undefined)
  return false
}

const REASONS = ['stop', 'length', 'calls', 'filter']
