import type { Metadata, Timer, Interruption } from '../durable/records.ts'
import { checkHooks } from '../hook/check.ts'
import type { Hook } from '../hook/hook.ts'
import type { TokenUsage } from '../usage.ts'
import type { Model } from '../model/model.ts'
import { anything, check, methods, type Rule } from '../lib/check.ts'
import { durability } from './check.ts'
import type { Monitor, Presence } from './monitor.ts'

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
  /** Starts nothing a second time: a request with the same key follows the run that the first one started, and recovers it if it died. */
  readonly idempotencyKey?: string
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

/** What a request in this process may carry as well, for its run only: whoever goes on with the thread later doesn't have it. */
export interface LocalOptions {
  /** After the app's own. */
  readonly hooks?: readonly Hook[]
  /** Goes before the agent's own model. */
  readonly model?: Model
  /** Lets an agent plan, keep files and hand tasks on; see `deep` of `agent`. */
  readonly deep?: boolean
  /** Is told of the run as well as the app's. */
  readonly monitor?: Monitor
  /** Shows the run as well as the app's. */
  readonly presence?: Presence
}

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

/** A request, or the clock's: continues what is due. */
export type Opening = RunRequest &
  LocalOptions & { readonly wake?: number; readonly tenant?: string }

/** A rule for texts. */
export const text: Rule = [(value) => typeof value === 'string', 'a string']

/** A rule for signals. */
export const signal: Rule = [
  (value) => typeof Object(value).addEventListener === 'function',
  'an AbortSignal',
]

/** Whether a value is what models are. */
const isModel = (value: unknown): boolean => {
  const { provider, model, stream } = Object(value) as Partial<Model>
  return typeof provider === 'string' && typeof model === 'string' && typeof stream === 'function'
}

/** Whether a value has members of its own. */
export const isObject = (value: object): boolean => Object(value) === value && !Array.isArray(value)

/** What each member of a request must be. */
export const RULES = {
  thread: text,
  from: text,
  user: text,
  idempotencyKey: text,
  signal,
  timeout: [
    (ms) => typeof ms === 'number' && ms > 0,
    'a positive number of milliseconds',
    RangeError,
  ],
  metadata: [isObject, 'an object'],
  durability,
  hooks: anything,
  model: [isModel, 'a model: an object with provider, model and the method stream'],
  deep: [(value) => typeof value === 'boolean', 'true or false'],
  monitor: methods('emit'),
  presence: methods('set'),
  input: anything,
  answer: anything,
  answers: [
    (answers) => isObject(answers) && Object.keys(answers).length > 0,
    'an object with an answer by id, or several',
  ],
} satisfies { readonly [member: string]: Rule }

/**
 * Refuses a request that makes no sense, before anything is read.
 *
 * @throws TypeError or RangeError naming what is wrong
 */
export function checkRequest(request: RunRequest & LocalOptions): void {
  if (!isObject(request)) throw new TypeError('Cannot run: the request is not an object')
  // Where undefined is no absence, it is refused like null.
  const { thread = null, answers = null } = request
  check('Cannot run', RULES, { ...request, thread, ...('answers' in request && { answers }) })
  if (request.hooks !== undefined) checkHooks('Cannot run', request.hooks)
  const ways = ['input', 'answer', 'answers'].filter((key) => key in request)
  if (ways.length > 1) throw new TypeError(`Cannot run: ${ways.join(' and ')} are both given`)
}
