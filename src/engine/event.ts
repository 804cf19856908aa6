import type { Interruption, Timer } from '../durable/records.ts'
import type { TokenUsage } from '../usage.ts'

interface Base {
  /** Rises by one per event of a thread and namespace; after a crash it may jump, never repeat. */
  readonly seq: number
  readonly run: string
  readonly step: number
  /** Empty for a graph's own events. What happens inside a child is in the log of its namespace. */
  readonly ns: readonly string[]
}

/**
 * One observable moment of a run. What a child graph emits, asks and waits for is reported by the node
 * that runs it. `done` comes once and only on success; a paused stream ends after its last `interrupt` or `wait`.
 */
export type StreamEvent<Name extends string = string, State = unknown, Event = unknown> =
  | (Base & {
      readonly kind: 'node_start'
      readonly node: Name
      readonly task: string
      readonly attempt: number
    })
  | (Base & {
      readonly kind: 'node_end'
      readonly node: Name
      readonly task: string
      readonly update: unknown
      readonly cached?: true
    })
  | (Base & {
      readonly kind: 'backend'
      readonly node: Name
      readonly task: string
      readonly data: Event
    })
  | (Base & { readonly kind: 'step'; readonly checkpoint: string; readonly next: readonly Name[] })
  | (Base & {
      readonly kind: 'interrupt'
      readonly node: Name
      readonly interruption: Interruption
    })
  | (Base & {
      readonly kind: 'wait'
      readonly node: Name
      readonly wakeAt: string
      readonly payload?: unknown
      readonly timer: Timer
    })
  | (Base & {
      readonly kind: 'done'
      readonly checkpoint: string
      readonly state: State
      readonly usage: TokenUsage
    })
