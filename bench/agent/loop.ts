/** One way to run the agent loop of `bench/agent.ts`. */
export interface Candidate {
  readonly version: string
  /** What it keeps while it runs: nothing, or the state after each step. */
  readonly kept: readonly Kept[]
  /** Everything that is made once: models, tools, agents, graphs. */
  make(turns: number, kept: Kept): Loop | Promise<Loop>
}

export type Kept = 'nothing' | 'each step'

/** A loop that is ready to run. */
export interface Loop {
  /** One run on a thread of its own: `turns` calls of the tool, one a turn, then an answer. */
  run(): Promise<Ending>
  /** What one run kept. */
  bytes?(): Bytes | Promise<Bytes>
  /** Empties the store, between runs. */
  reset?(): void
}

/** What lies in the store after one run, and what was written to it if that isn't the same. */
export interface Bytes {
  readonly left: number
  readonly written?: number
}

/** How a run ended. */
export interface Ending {
  readonly calls: number
  readonly text: string
}

/** What one process measured: microseconds a turn. `cpu` is of all threads, and what other processes take is not in it. */
export interface Sample {
  readonly version: string
  readonly best: number
  readonly median: number
  readonly cpu: number
  readonly bytes?: Bytes
}
