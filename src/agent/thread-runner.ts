import type { Interruption } from '../durable/records.ts'
import type { Monitor, Presence } from '../engine/monitor.ts'
import { RULES, type Outcome } from '../engine/request.ts'
import { nothing } from '../engine/resume.ts'
import { IDS, type Runner } from '../engine/runner.ts'
import { anything, check, methods, type Rule } from '../lib/check.ts'
import { newId } from '../lib/ids.ts'
import { quietly } from '../lib/quietly.ts'
import { tidy } from '../lib/tidy.ts'
import type { FilePart, Message } from '../model/message.ts'
import type { Model } from '../model/model.ts'
import type { AgentState } from './state.ts'

/** What can be talked to: an agent, or a graph around agents that keeps `messages`, too. */
interface Talk<Output = undefined, Handoff extends string = never> {
  readonly messages: readonly Message[]
  readonly output?: Output | undefined
  readonly handoff?: Handoff | undefined
}

/** Whose threads a `ThreadRunner` runs, and what its runs have that others don't. */
export interface ThreadRunnerOptions<
  Output = undefined,
  Handoff extends string = never,
  State = AgentState<Output, Handoff>,
> {
  /** A compiled agent or graph with `messages`, or what serves one tenant of it. A client of one elsewhere will do, without what is for this process only: model, deep, monitor and presence. */
  readonly app: Runner<State & Talk<Output, Handoff>>
  /** @default a new one */
  readonly thread?: string
  /** Who asks and answers; kept on runs and interruptions. */
  readonly user?: string
  /** Goes before the agent's own model. */
  readonly model?: Model
  /** Lets the agent plan, keep files and hand tasks on. */
  readonly deep?: boolean
  /** Is told of the runs as well as the app's. */
  readonly monitor?: Monitor
  /** Shows the runs as well as the app's. */
  readonly presence?: Presence
}

/** What goes with a text. */
export interface Turn {
  /** Of a media type such as `image/png`; bytes, or a URL as text (https: or data:) that the model's provider can read. */
  readonly images?: readonly FilePart[]
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal
}

/** A conversation with an agent: one thread, turn by turn. What else can be done with the thread the `app` does. */
export class ThreadRunner<
  Output = undefined,
  Handoff extends string = never,
  State = AgentState<Output, Handoff>,
> {
  readonly app: Runner<State>
  readonly #own: Omit<ThreadRunnerOptions, 'app' | 'thread'>
  #thread: string | undefined

  /** @throws TypeError for an option that makes no sense, or one that `app` can't be given */
  constructor(options: ThreadRunnerOptions<Output, Handoff, State>) {
    const cannot = 'Cannot make a ThreadRunner'
    check(cannot, OPTIONS, { ...options, app: options?.app ?? null })
    const { app, thread, user, ...local } = options
    const named = Object.entries(local).find(([, value]) => value !== undefined)
    if (named && !(IDS in app))
      throw new TypeError(
        `${cannot}: ${named[0]} is for an app in this process, and its own is not`,
      )
    this.app = app
    this.#thread = thread
    this.#own = tidy({ user, ...local } as never)
  }

  /** Its id, made when it is first asked for or run. Nothing is stored before the first run. */
  get thread(): string {
    const { [IDS]: make = newId } = this.app as { readonly [IDS]?: typeof newId }
    return (this.#thread ??= make('thr_'))
  }

  /**
   * Says something to the agent, and runs it until it has answered or waits. The thread is made if there is none.
   *
   * @param text Is trimmed. Empty, with images, it asks to describe them
   * @throws TypeError for an empty text without images, or for what is no image; what `app.run` throws
   */
  async run(text: string, options: Turn = {}): Promise<Outcome<State>> {
    return this.#go({ input: inputOf(text, options) }, options)
  }

  /** As `run`, on a thread that exists; `NothingToResume` otherwise. */
  async continueTurn(text: string, options: Turn = {}): Promise<Outcome<State>> {
    const input = inputOf(text, options)
    const { app, thread } = this
    if ((await app.state(thread)) === undefined) throw nothing(thread, 'it does not exist')
    return this.#go({ input }, options)
  }

  /**
   * Answers one question and goes on.
   *
   * @param interruption The question, or its id. A runner that has no thread yet takes that of the question
   */
  async resume(
    interruption: Interruption | string,
    answer: unknown,
    options: Pick<Turn, 'signal'> = {},
  ): Promise<Outcome<State>> {
    check('Cannot resume', { signal: anything }, options)
    const { id, thread } =
      typeof interruption === 'string' ? { id: interruption } : Object(interruption)
    check('Cannot resume', { interruption: question }, { interruption: id ?? null })
    this.#thread ??= thread
    return this.#go({ answers: { [id]: answer } }, options)
  }

  #go(
    request: { readonly input: unknown } | { readonly answers: object },
    { signal }: Turn,
  ): Promise<Outcome<State>> {
    const { app, thread } = this
    return app.run(tidy({ ...this.#own, thread, signal, ...request } as never))
  }
}

const OPTIONS: { readonly [member: string]: Rule } = {
  app: methods('run', 'state'),
  thread: RULES.thread,
  user: RULES.user,
  model: RULES.model,
  deep: RULES.deep,
  monitor: RULES.monitor,
  presence: RULES.presence,
}

const question: Rule = [
  (id) => typeof id === 'string' && id !== '',
  'an interruption, or the id of one',
]

const IMAGE: { readonly [member: string]: Rule } = {
  mediaType: [
    (value) => typeof value === 'string' && /^image\/[\w.+*-]+$/i.test(value),
    'the media type of an image, such as "image/png"',
  ],
  data: [
    (data) =>
      typeof data === 'string'
        ? quietly(() => new URL(data)) !== undefined
        : Object.prototype.toString.call(data) === '[object Uint8Array]' &&
          (data as Uint8Array).length > 0,
    'bytes, or a URL as text (https: or data:)',
  ],
}

/** What a text with images is for an agent: one message. */
function inputOf(text: string, turn: Turn): object {
  const cannot = 'Cannot run'
  check(
    cannot,
    { text: RULES.thread, images: list, signal: anything },
    { ...turn, text: text ?? null },
  )
  const images = turn.images ?? []
  const files = images.map((image, at) => {
    const { mediaType = null, data = null } = Object(image) as Partial<FilePart>
    check(`${cannot} with image ${at + 1}`, IMAGE, { ...image, mediaType, data })
    return {
      mediaType,
      data: typeof data === 'string' ? data : Uint8Array.from(data as Uint8Array),
    }
  })
  const said = text.trim()
  if (said === '' && files.length === 0)
    throw new TypeError(`${cannot}: the text is empty, and there are no images`)
  const message = { role: 'user', text: said || 'Describe what you see.' }
  return { messages: [files.length > 0 ? { ...message, files } : message] }
}

const list: Rule = [(value) => Array.isArray(value), 'a list of images']
