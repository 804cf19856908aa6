import {
  ModelError,
  type Clock,
  type FinishReason,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type TokenUsage,
} from '../../src/index.ts'

/** One answer of a scripted model. A function sees the request first. */
export type ScriptedTurn = ScriptedReply | ((request: ModelRequest) => ScriptedReply)

/** What a scripted model says, in this order: reasoning, text, calls. */
export interface ScriptedReply {
  readonly text?: string
  readonly reasoning?: string
  readonly calls?: readonly {
    readonly tool: string
    readonly args?: unknown
    /** Instead of `args`: the text as a model would write it, broken or not. */
    readonly raw?: string
    readonly id?: string
  }[]
  readonly usage?: TokenUsage
  /** Throws it, after the text so far. */
  readonly error?: Error
  /** Milliseconds before each part, by the model's clock. */
  readonly delay?: number
  /** Ends without `finish`. */
  readonly broken?: true
}

export interface ScriptedModel extends Model {
  /** What it was asked, in order. */
  readonly requests: readonly ModelRequest[]
  /** Throws if turns are left over, and if it was asked more often than it has turns. */
  assertComplete(): void
}

/**
 * A model that says what it is told to: a list in order, failing when asked more often, or a function as often as asked.
 * Text comes word by word.
 *
 * @param options `clock` is what delays go by. @default the platform's
 * @throws TypeError for turns that are neither
 */
export function scriptedModel(
  turns: readonly ScriptedTurn[] | ((request: ModelRequest) => ScriptedReply),
  options: { readonly provider?: string; readonly model?: string; readonly clock?: Clock } = {},
): ScriptedModel {
  const { provider = 'scripted', model = 'script', clock = platform } = options
  if (!Array.isArray(turns) && typeof turns !== 'function')
    throw new TypeError('Cannot make a scripted model: its turns are neither a list nor a function')
  const requests: ModelRequest[] = []
  const replyTo = (request: ModelRequest): ScriptedReply => {
    requests.push(request)
    if (typeof turns === 'function') return turns(request)
    const turn = turns[requests.length - 1]
    if (turn === undefined)
      throw new ModelError(
        `Cannot ask model "${provider}/${model}": this is request ${requests.length}, and its script has turns for ${turns.length}`,
        { provider, model },
      )
    return typeof turn === 'function' ? turn(request) : turn
  }
  return {
    provider,
    model,
    requests,
    async *stream(request, { signal }) {
      signal.throwIfAborted()
      const reply = replyTo(request)
      for (const event of eventsOf(reply)) {
        if (reply.delay !== undefined) await passed(clock, reply.delay, signal)
        signal.throwIfAborted()
        yield event
      }
      if (reply.error) throw reply.error
      if (!reply.broken) yield finish(reply)
    },
    assertComplete() {
      if (typeof turns === 'function') return
      const left = turns.length - requests.length
      if (left > 0)
        throw new Error(`Cannot end the script: ${left} of ${turns.length} turns are left`)
      if (left < 0)
        throw new Error(
          `Cannot end the script: it was asked ${requests.length} times, and has ${turns.length} turns`,
        )
    },
  }
}

/** Text comes word by word, arguments in two pieces, as models send them. */
function* eventsOf({ text, reasoning, calls = [], usage }: ScriptedReply): Generator<ModelEvent> {
  for (const delta of words(reasoning)) yield { kind: 'reasoning', delta }
  for (const delta of words(text)) yield { kind: 'text', delta }
  for (const [
    n,
    { tool, args = {}, raw = JSON.stringify(args), id = String(n) },
  ] of calls.entries()) {
    const half = Math.ceil(raw.length / 2)
    yield { kind: 'args', id, tool, delta: raw.slice(0, half) }
    yield { kind: 'args', id, delta: raw.slice(half) }
    yield { kind: 'call', id, tool, raw }
  }
  if (usage) yield { kind: 'usage', usage }
}

/** A text in pieces, with the spaces before each. */
const words = (text = ''): readonly string[] => text.match(/\s*\S+(?:\s+$)?|\s+/g) ?? []

function finish({ calls = [], usage }: ScriptedReply): ModelEvent {
  const reason: FinishReason = calls.length > 0 ? 'calls' : 'stop'
  return usage ? { kind: 'finish', reason, usage } : { kind: 'finish', reason }
}

/** Waits; an abort ends it at once. */
function passed(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const stop = (): void => {
      cancel()
      signal.removeEventListener('abort', stop)
      reject(signal.reason)
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop)
  })
}

const platform: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
