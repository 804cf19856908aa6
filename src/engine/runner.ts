import type {
  Interruption,
  Metadata,
  Run as RunRow,
  Snapshot,
  Status,
  Thread,
} from '../durable/records.ts'
import type { ThreadExport } from '../durable/transfer.ts'
import type { Graph } from '../graph/graph.ts'
import type { InputFor, StateOf } from '../graph/state.ts'
import type { Message } from '../model/message.ts'
import type { StreamEvent } from './event.ts'
import type { LiveRun } from './live.ts'
import type { LocalOptions, Outcome, RunRequest } from './request.ts'
import type { Ticked } from './tick.ts'

/** Where a runner in this process keeps what makes its ids. */
export const IDS: unique symbol = /* @__PURE__ */ Symbol.for('heddle.ids') as never

/** What runs threads of one graph: a compiled graph in this process, or a client of one elsewhere. */
export interface Runner<State = any, Input = any, Name extends string = any, Event = any> {
  /** Runs and reports. The request is checked first: a refusal rejects `id`, `outcome` and the first `next()`, and changes nothing. */
  stream(request: RunRequest<Input>): LiveRun<Name, State, Event>
  /** Runs until the next pause or the end. */
  run(request: RunRequest<Input>): Promise<Outcome<State>>
  /** Where a thread stands, now or at a checkpoint; `undefined` for an unknown one. */
  state(
    thread: string,
    options?: { readonly checkpoint?: string },
  ): Promise<Snapshot<State, Name> | undefined>
  /** The same inside a child graph, by the names of the nodes that lead to it. */
  state(
    thread: string,
    options: { readonly checkpoint?: string; readonly ns: readonly string[] },
  ): Promise<Snapshot | undefined>
  /** Checkpoints, newest first, read as far as you go. */
  history(
    thread: string,
    options?: { readonly limit?: number; readonly before?: string },
  ): AsyncIterable<Snapshot<State, Name>>
  history(
    thread: string,
    options: { readonly limit?: number; readonly before?: string; readonly ns: readonly string[] },
  ): AsyncIterable<Snapshot>
  /** Makes a new branch at a checkpoint, or a new thread with `to`; `update` replaces fields, past any reducer. Runs nothing: `run({ thread })` goes on from it. */
  fork(
    thread: string,
    options: { readonly from: string; readonly update?: Partial<State>; readonly to?: string },
  ): Promise<{ readonly thread: string; readonly checkpoint: string }>
  /** Events that are recorded after `after` (all by default), then those that come. Ends with the run if `run` is given, with `signal` otherwise. */
  subscribe(
    thread: string,
    options?: { readonly after?: number; readonly run?: string; readonly signal?: AbortSignal },
  ): AsyncIterable<StreamEvent<Name, State, Event>>
  /** The same inside a child graph. */
  subscribe(
    thread: string,
    options: {
      readonly after?: number
      readonly run?: string
      readonly signal?: AbortSignal
      readonly ns: readonly string[]
    },
  ): AsyncIterable<StreamEvent>
  /** Threads of this graph, newest first. */
  threads(options?: {
    readonly status?: Status
    readonly limit?: number
    readonly before?: string
  }): AsyncIterable<Thread>
  /** Runs of a thread, newest first. */
  runs(
    thread: string,
    options?: { readonly limit?: number; readonly before?: string },
  ): AsyncIterable<RunRow>
  /** The last messages of a thread, oldest first, those before the one of id `before` if that is given: of the first field that is `messages()`. Empty for a graph or a thread without any. @default the last 100 */
  messages(
    thread: string,
    options?: { readonly limit?: number; readonly before?: string },
  ): Promise<readonly Message[]>
  /** Questions of one thread or of all, oldest first. @default the open ones, at most 100 */
  interruptions(options?: {
    readonly thread?: string
    readonly status?: Interruption['status']
    readonly limit?: number
  }): Promise<readonly Interruption[]>
  /** Stops the thread's run, wherever it runs, and voids its pauses. `run({ thread })` goes on from the last checkpoint, `input` starts a new turn. */
  cancel(thread: string, reason?: string): Promise<void>
  /** Removes a thread whole, child namespaces included. */
  delete(thread: string): Promise<void>
}

/** The runner type of a graph: `RunnerOf<typeof triage>`. */
export type RunnerOf<G extends Graph> =
  G extends Graph<infer F, infer Name, infer Event>
    ? Runner<StateOf<F>, InputFor<F>, Name, Event>
    : never

/** A runner in this process, for one tenant or for none. */
export interface LocalRunner<
  State = any,
  Input = any,
  Name extends string = any,
  Event = any,
> extends Runner<State, Input, Name, Event> {
  stream(request: RunRequest<Input> & LocalOptions): LiveRun<Name, State, Event>
  run(request: RunRequest<Input> & LocalOptions): Promise<Outcome<State>>
  /** As `run`, sleeping in this process until nothing but questions is open. It keeps the process. */
  runUntilDone(request: RunRequest<Input> & LocalOptions): Promise<Outcome<State>>
  /** Drops old checkpoints of a thread that nobody runs; what is kept is read as before. Tells how many are gone. */
  prune(
    thread: string,
    kept: { readonly keepLast?: number; readonly olderThan?: Date },
  ): Promise<{ readonly removed: number }>
  /** A thread as one portable value, and back; the other side refuses a thread that it already has. */
  exportThread(thread: string): Promise<ThreadExport>
  importThread(
    value: ThreadExport,
    arrival?: { readonly to?: string; readonly metadata?: Metadata },
  ): Promise<Thread>
}

/** A graph that runs in this process. */
export interface CompiledGraph<
  State = any,
  Input = any,
  Name extends string = any,
  Event = any,
> extends LocalRunner<State, Input, Name, Event> {
  readonly name: string
  /** The same app for one tenant: only its threads, lists and questions; ids are unique within it. `tick` serves all. */
  tenant(id: string): LocalRunner<State, Input, Name, Event>
  /** Continues due waits, earliest first, and recovers runs whose owner died; resolves when those runs have paused or ended. `next`: when to come again. A failing run is recorded, not thrown. */
  tick(options?: { readonly now?: number; readonly limit?: number }): Promise<Ticked>
}
