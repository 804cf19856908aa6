import type { Json, JsonSchema } from '../schema.ts'
import type { TokenUsage } from '../usage.ts'

/** What a thread carries for its owner: user, tenant, mission. Stored in clear, seen by nodes, tools and hooks; never secrets. */
export type Metadata = { readonly [key: string]: Json }

/** Where a thread or a run stands. */
export type Status =
  | 'starting'
  | 'running'
  | 'resuming'
  | 'success'
  | 'interrupted'
  | 'waiting'
  | 'error'
  | 'cancelled'

/** A recorded failure. */
export interface ErrorInfo {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly cause?: ErrorInfo
}

/** A line of work that outlives processes. Its id is unique within its store and tenant. */
export interface Thread {
  readonly id: string
  readonly tenant?: string
  readonly graph: string
  readonly status: Status
  /** Newest checkpoint, once there is one. */
  readonly checkpoint?: string
  readonly metadata: Metadata
  /** Of all its runs. A thread that a fork has made begins with none. */
  readonly usage: TokenUsage
  readonly createdAt: string
  readonly updatedAt: string
}

/** One attempt to move a thread on. A resume is a new run. */
export interface Run {
  readonly id: string
  readonly thread: string
  readonly status: Status
  /** The run this one continues, and the first of that chain. */
  readonly continues?: string
  readonly root: string
  readonly user?: string
  /** `llm` says which model served it. */
  readonly metadata: Metadata
  readonly error?: ErrorInfo
  /** Its own, without that of the runs it continues; by now, if it hasn't ended. */
  readonly usage: TokenUsage
  readonly startedAt: string
  readonly endedAt?: string
}

/** A question to a person, with its answer once there is one. */
export interface Interruption<Payload = unknown> {
  /** `int_…`, or `apr_…` for an approval. The same on every re-entry; another in a fork. */
  readonly id: string
  readonly thread: string
  readonly run: string
  readonly checkpoint: string
  readonly ns: readonly string[]
  readonly node: string
  readonly key?: string
  readonly payload: Payload
  /** Shape of an answer, when the schema can say it. */
  readonly schema?: JsonSchema
  /** `cancelled` also when a fork left it behind. */
  readonly status: 'open' | 'answered' | 'cancelled' | 'expired'
  /** Who was asked, and by which agent. */
  readonly user?: string
  readonly agent?: string
  readonly createdAt: string
  readonly expiresAt?: string
  readonly answer?: unknown
  readonly answeredAt?: string
  readonly answeredBy?: string
}

/** A pause for a clock. */
export interface Timer {
  readonly id: string
  readonly thread: string
  readonly ns: readonly string[]
  readonly node: string
  readonly wakeAt: string
  readonly payload?: unknown
}

/** A thread at one checkpoint. */
export interface Snapshot<State = Readonly<Record<string, unknown>>, Name extends string = string> {
  readonly thread: string
  readonly ns: readonly string[]
  readonly checkpoint: string
  readonly parent?: string
  readonly step: number
  readonly source: 'input' | 'step' | 'fork' | 'update'
  readonly run: string
  readonly createdAt: string
  readonly status: Status
  readonly state: State
  /** Nodes that run next, each once however many tasks it has. Empty when finished. */
  readonly next: readonly Name[]
  readonly interruptions: readonly Interruption[]
  readonly timers: readonly Timer[]
  readonly error?: ErrorInfo
  readonly metadata: Metadata
}
