import type { Metadata, Timer, Interruption } from '../durable/records.ts'
import type { TokenUsage } from '../usage.ts'

/** When a step counts as stored: at once, or when the run pauses or ends (faster; a crash repeats the run). */
export type Durability = 'step' | 'exit'

interface Common {
  readonly thread: string
  /** Goes on from this checkpoint instead of the newest: a new branch of the same thread. */
  readonly from?: string
  /** Aborting it stops the run; the thread stays at its last checkpoint and can go on. */
  readonly signal?: AbortSignal
  /** Milliseconds for this run, waits not counted. @default none */
  readonly timeout?: number
  /** Merged over the thread's own. */
  readonly metadata?: Metadata
  /** Who asks or answers; kept on the run and the interruption. */
  readonly user?: string
  readonly durability?: Durability
}

/**
 * What to do with a thread. The key that is present decides, not its value. `input` starts a turn: on a thread
 * that has ended it is folded into the state and the graph starts again; a paused one refuses it. `answer`
 * answers the one open question, `answers` some of them by id (the id of a timer wakes it now). None of the
 * three goes on after an error, a crash or a cancel.
 */
export type RunRequest<Input = any> = Common &
  (
    | { readonly input: Input; readonly answer?: never; readonly answers?: never }
    | { readonly answer: unknown; readonly input?: never; readonly answers?: never }
    | {
        readonly answers: { readonly [interruption: string]: unknown }
        readonly input?: never
        readonly answer?: never
      }
    | { readonly input?: never; readonly answer?: never; readonly answers?: never }
  )

/** How a run ended. Failures are thrown. With questions and timers open at once it is `interrupted`. */
export type Outcome<State = unknown> = {
  readonly thread: string
  readonly run: string
  readonly checkpoint: string
  readonly state: State
  readonly usage: TokenUsage
} & (
  | { readonly status: 'success' }
  | {
      readonly status: 'interrupted'
      readonly interruptions: readonly Interruption[]
      readonly timers: readonly Timer[]
    }
  | { readonly status: 'waiting'; readonly timers: readonly Timer[] }
)

const KNOWN = [
  'thread',
  'from',
  'signal',
  'timeout',
  'metadata',
  'user',
  'durability',
  'input',
  'answer',
  'answers',
]

/**
 * Refuses a request that makes no sense, before anything is read.
 *
 * @throws TypeError or RangeError naming what is wrong
 */
export function checkRequest(request: RunRequest): void {
  const wrong = (what: string): never => {
    throw new TypeError(`Cannot run: ${what}`)
  }
  if (typeof request !== 'object' || request === null) wrong('the request is not an object')
  const { thread, from, signal, timeout, metadata, user, durability } = request
  for (const key of Object.keys(request))
    if (!KNOWN.includes(key)) wrong(`the request has an unknown key "${key}"`)
  if (typeof thread !== 'string')
    wrong(`thread is ${thread === undefined ? 'missing' : 'not a string'}`)
  const ways = ['input', 'answer', 'answers'].filter((key) => key in request)
  if (ways.length > 1) wrong(`${ways.map((key) => `"${key}"`).join(' and ')} are both given`)
  const { answers } = request
  if ('answers' in request && (Object(answers) !== answers || Array.isArray(answers)))
    wrong('answers is not an object of answers by id')
  if ('answers' in request && Object.keys(answers as object).length === 0) wrong('answers is empty')
  if (from !== undefined && typeof from !== 'string') wrong('from is not the id of a checkpoint')
  if (signal !== undefined && typeof Object(signal).addEventListener !== 'function')
    wrong('signal is not an AbortSignal')
  if (user !== undefined && typeof user !== 'string') wrong('user is not a string')
  if (metadata !== undefined && (Object(metadata) !== metadata || Array.isArray(metadata)))
    wrong('metadata is not an object')
  if (durability !== undefined && durability !== 'step' && durability !== 'exit')
    wrong(`durability is ${String(durability)}, neither "step" nor "exit"`)
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0))
    throw new RangeError(`Cannot run: timeout is ${timeout}, not a positive number of milliseconds`)
}

/**
 * Refuses a limit of a list that makes no sense.
 *
 * @throws RangeError
 */
export function checkLimit(limit: number): void {
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0))
    throw new RangeError(`Cannot read: limit is ${String(limit)}, not a whole number from 0 on`)
}
