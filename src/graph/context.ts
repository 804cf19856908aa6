import type { Metadata } from '../durable/records.ts'
import type { Generate } from '../model/ask.ts'
import type { Model, Reply } from '../model/model.ts'
import type { Schema, Storable } from '../schema.ts'
import type { Scope } from '../scope/scope.ts'
import type { Call, CallResult, Tool } from '../tool/tool.ts'
import type { Graph } from './graph.ts'
import type { Question } from './question.ts'
import type { Fields, InputFor, StateOf } from './state.ts'

/** Names a pause, so that its answer is bound to the name instead of the position of the call. */
export interface PauseOptions {
  readonly key?: string
  /** Keeps a `Question`, whose payload is checked, from passing as mere options. */
  readonly is?: never
}

/** How to ask: `schema` checks and types the answer. */
export interface AskOptions<Answer> extends PauseOptions {
  readonly schema: Schema<any, Answer>
  /** Milliseconds until the question expires. @default never */
  readonly expires?: number
}

/** How a tool is called. */
export interface CallOptions {
  /** Gets what the tool emits: how far it is. @default dropped */
  readonly emit?: (data: unknown) => void | Promise<void>
}

/** What nodes and tools have in common. It is passed on, never looked up. Outside a thread the ids are absent and pausing throws `ToolUsageError`. */
export interface RunContext {
  readonly thread?: string
  readonly tenant?: string
  readonly run?: string
  readonly step?: number
  readonly node?: string
  /** Path of the child graph this runs in, by node names; empty at the top. */
  readonly ns: readonly string[]
  /** Id of this execution of the node: the same after a pause, a crash or a recovery, new in a fork. The idempotency key to use. */
  readonly task?: string
  /** Who started the run. */
  readonly user?: string
  /** What the thread was given: who and what it is for, never secrets. */
  readonly metadata: Metadata
  /** Aborts when the node, the step or the run must stop. */
  readonly signal: AbortSignal
  /** Owns clients and other things that must be closed with the run. */
  readonly scope: Scope
  /** The app's clock, in milliseconds since 1970. Not recorded: use it inside `once`, or for a `wait`. */
  now(): number

  /** Pauses the thread until someone answers. Code before it runs again when the answer is there; `finally` blocks don't run on a pause. */
  interrupt<Payload, Answer>(
    payload: Payload & Storable<Payload>,
    question: Question<Payload, Answer>,
  ): Promise<Answer>
  interrupt<Payload, Answer>(
    payload: Payload & Storable<Payload>,
    options: AskOptions<Answer>,
  ): Promise<Answer>
  interrupt<Payload>(
    payload?: Payload & Storable<Payload>,
    options?: PauseOptions,
  ): Promise<unknown>
  /** Pauses until an instant: a Date, or an ISO 8601 time with `Z` or an offset. It is recorded once; past ones resolve at once. Resolves with the recorded payload, or with the answer if its timer is answered first. */
  wait<Payload>(
    wakeAt: string | Date,
    payload?: Payload & Storable<Payload>,
    options?: PauseOptions,
  ): Promise<unknown>
  /** Pauses for some milliseconds, counted from the first time this line ran. */
  sleep(ms: number, options?: PauseOptions): Promise<void>
  /** Runs `work` and stores its result; on every re-entry of this node execution the stored result comes back instead. A failure isn't stored. */
  once<Value>(key: string, work: () => Value | Promise<Value>): Promise<Value>
  /** Runs another graph to its end, in a namespace of its own. Its pauses pause this node; its result is stored like `once`. */
  child<F extends Fields>(
    graph: Graph<F>,
    input: InputFor<F>,
    options?: PauseOptions,
  ): Promise<StateOf<F>>
  /** Runs a tool under the hooks, policies and cache of the app. Rejects with `ApprovalDenied` when refused. */
  call<Input, Result>(
    tool: Tool<Input, Result>,
    args: Input,
    options?: CallOptions,
  ): Promise<Result>
  call(tool: string, args: unknown, options?: CallOptions): Promise<unknown>
  /** Runs several calls at once (four by default), waits for all, and keeps their order; failures are results, not throws. */
  callAll(calls: readonly Call[]): Promise<readonly CallResult[]>
  /** Asks a model under the hooks, policies, cache and token count of the app. What it answered is recorded: a node that is entered again gets the same reply. */
  generate<Output = undefined>(model: Model, request: Generate<Output>): Promise<Reply<Output>>
}

/** What a running node can see and do. */
export interface Context<Event = never, Item = unknown> extends RunContext {
  readonly thread: string
  readonly run: string
  readonly step: number
  readonly node: string
  readonly task: string
  /** The item of this task, when an `each` started it. */
  readonly item: Item
  /** Sends one event to whoever is watching; settles when there is room for the next. A property, so that a node can't emit what its graph doesn't declare. */
  readonly emit: (event: Event) => Promise<void>
  /** As above; what the child emits goes to this graph's stream, so its events must be among this graph's, or be mapped by `emit` (`undefined` drops one). */
  child<F extends Fields, ChildEvent extends Event>(
    graph: Graph<F, any, ChildEvent>,
    input: InputFor<F>,
    options?: PauseOptions,
  ): Promise<StateOf<F>>
  child<F extends Fields, ChildEvent>(
    graph: Graph<F, any, ChildEvent>,
    input: InputFor<F>,
    options: PauseOptions & { readonly emit: (event: ChildEvent) => Event | undefined },
  ): Promise<StateOf<F>>
}
