import { ModelError } from '../errors.ts'
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

const REASONS: readonly string[] = ['stop', 'length', 'calls', 'filter', 'other']

/** A model's failure. The words of others stay out of it, as they may hold secrets; they are in its `cause`. */
export function broken(
  { provider, model }: Pick<Model, 'provider' | 'model'>,
  why: string,
  cause?: unknown,
): ModelError {
  const options = cause === undefined ? undefined : { cause }
  const message = `Cannot ask model "${provider}/${model}": ${why}`
  return new ModelError(message, { provider, model }, options)
}

/**
 * Hears a model out.
 *
 * @param heard What is heard is put in here
 * @param lost Called when the model is given up, before anybody hears of it
 * @throws what the model or `onEvent` throws; ModelError for a stream that breaks off or makes no sense; the reason of the
 *   signal; a `TimeoutError`
 */
export async function hear(
  model: Model,
  request: ModelRequest,
  { call, heard, onEvent, lost, watch, bounds }: Hearing,
): Promise<void> {
  const own = new AbortController()
  let iterator: AsyncIterator<ModelEvent> | undefined
  let over = false
  const halt = (reason: unknown): void => {
    over = true
    own.abort(reason)
    lost(reason)
  }
  const listen = async (): Promise<void> => {
    const events = model.stream(request, { signal: own.signal, call })
    if (typeof Object(events)[Symbol.asyncIterator] !== 'function')
      throw broken(model, 'what stream() gave back is no async iterable')
    iterator = events[Symbol.asyncIterator]()
    while (heard.finish === undefined) {
      const { done, value } = await iterator.next()
      if (over) return
      if (done) throw broken(model, 'its stream ended without "finish"')
      if (take(model, heard, value)) await onEvent?.(value)
      if (over) return
    }
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

/** What a model is heard with. */
export interface Hearing {
  /** Our id of the request. */
  readonly call: string
  readonly heard: Heard
  readonly onEvent: Generate<unknown>['onEvent']
  readonly lost: (reason: unknown) => void
  readonly watch: Watch
  readonly bounds: Bounds
}

/** Adds an event to what was heard; tells whether it is of a known kind. */
function take(model: Model, heard: Heard, event: ModelEvent): boolean {
  const malformed = (): never => {
    throw broken(model, `an event "${String(Object(event).kind)}" makes no sense`)
  }
  const texts = (...values: unknown[]): boolean =>
    values.every((value) => typeof value === 'string') || malformed()
  switch (Object(event).kind) {
    case 'text':
    case 'reasoning': {
      const { kind, delta } = event as Extract<ModelEvent, { kind: 'text' }>
      if (texts(delta)) heard[kind] += delta
      return true
    }
    case 'args': {
      const { id, tool = '', delta } = event as Extract<ModelEvent, { kind: 'args' }>
      return texts(id ?? '', tool, delta)
    }
    case 'call': {
      const { id, tool, raw } = event as Extract<ModelEvent, { kind: 'call' }>
      texts(id ?? '', tool, raw)
      heard.calls.push({ id: id || undefined, tool, raw })
      return true
    }
    case 'download':
      return typeof (event as { loaded: unknown }).loaded === 'number' || malformed()
    case 'usage':
    case 'finish': {
      const { usage, reason = 'other' } = event as Partial<Extract<ModelEvent, { kind: 'finish' }>>
      if (usage !== undefined) heard.usage = usageFrom(usage) ?? malformed()
      else if (event.kind === 'usage') malformed()
      if (event.kind !== 'finish') return true
      texts(reason)
      if (reason === 'error') throw broken(model, 'it finished with an error')
      heard.finish = REASONS.includes(reason) ? reason : 'other'
      return true
    }
    case undefined:
      return malformed()
  }
  return false
}

/** The figures of a report: what is no number wasn't reported. */
function usageFrom(usage: unknown): TokenUsage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  return Object.fromEntries(
    Object.entries(usage).filter(([, figure]) => Number.isFinite(figure) && figure >= 0),
  )
}

/** The failure of a model, whatever it threw. */
export const failureOf = (model: Model, error: unknown): unknown =>
  broken(model, `it failed with ${errorType(error)}`, error)
