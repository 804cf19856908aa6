/** Owns things that must be closed together: one call, one request, one Durable Object, one process. */
export interface Scope {
  readonly signal: AbortSignal
  /** Runs when the scope ends, last in first out. */
  defer(close: () => void | Promise<void>): void
}
