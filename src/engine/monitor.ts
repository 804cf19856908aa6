/** What a monitor sees of runs, each after its record is saved. */
export type MonitorEvent = {
  readonly run: string
  readonly thread: string
  /** ISO 8601 with `Z`. */
  readonly at: string
} & (
  | {
      readonly kind: 'run_start'
      /** The run before it, unless it is a turn of its own. */
      readonly continues?: string
    }
  | { readonly kind: 'model_request'; readonly model: string; readonly messagesCount: number }
  | {
      readonly kind: 'model_response'
      /** Of the run so far. What nobody reported is absent. */
      readonly totalTokens?: number
      readonly inputTokens?: number
      readonly outputTokens?: number
      readonly toolCallsCount: number
      readonly response: unknown
    }
  | {
      readonly kind: 'model_error' | 'run_error'
      readonly error: string
      readonly errorType: string
      readonly context: 'model_call' | 'invoke'
    }
  | {
      readonly kind: 'run_end'
      readonly totalTokens?: number
      readonly inputTokens?: number
      readonly outputTokens?: number
    }
  | {
      readonly kind: 'run_interrupt'
      readonly status: 'interrupted'
      readonly interruptionId: string
      readonly toolName: string
    }
  | { readonly kind: 'message'; readonly id: string; readonly role: string }
)

/** Watches runs. One that throws changes nothing; it is logged. */
export interface Monitor {
  emit(event: MonitorEvent): void
}

export type PresenceState = 'thinking' | 'waiting_input' | 'idle' | 'error'

/** Shows what an agent seems to be doing. One that throws changes nothing; it is logged. */
export interface Presence {
  set(
    state: PresenceState,
    of: { readonly run: string; readonly thread: string; readonly agent: string },
  ): void
}
