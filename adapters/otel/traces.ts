import { context } from '@opentelemetry/api'
import type { Attributes, SpanContext, Tracer } from '@opentelemetry/api'
import { scopeLocal } from '../../src/index.ts'
import type { MonitorEvent, RunContext, Scope } from '../../src/index.ts'
import { Part, type Made } from './part.ts'
import { RunTrace, type Begun, type Ending } from './run-trace.ts'

/** Runs that may be continued, as many as are remembered. */
const REMEMBERED = 1000
/** Runs at a time: of one that never ended here, as its process lost it, no more is heard. */
const MOST = 10_000

/** The traces of the runs that are under way. */
export class Traces {
  readonly #tracer: () => Tracer
  readonly #runs = new Map<string, RunTrace>()
  /** The spans of runs that may be continued. */
  readonly #paused = new Map<string, SpanContext>()
  readonly #parts = new WeakMap<
    object,
    { readonly part: Part; readonly of: RunTrace | undefined }
  >()
  /** Runs end with their scope at the latest: monitors hear nothing of one that waits for a clock or was cancelled. */
  readonly #held = scopeLocal((scope: Scope) => ({ scope, runs: new Map<string, boolean>() }), {
    close: ({ scope, runs }) => {
      const how = scope.signal.aborted ? 'cancelled' : 'waiting'
      for (const [run, isTold] of runs) this.#finish(run, isTold ? how : undefined)
    },
  })

  constructor(tracer: () => Tracer) {
    this.#tracer = tracer
  }

  /** The trace of a run; outside of one there is none. */
  of({ run, thread, scope }: RunContext): RunTrace | undefined {
    if (run === undefined) return undefined
    const told = this.#runs.get(run)
    const trace = told ?? this.#begin({ run, thread })
    if (!trace.release) {
      const { runs } = this.#held.get(scope)
      runs.set(run, told !== undefined)
      trace.release = () => runs.delete(run)
    }
    return trace
  }

  /** Takes in what is told of a run. */
  tell(event: MonitorEvent): void {
    const { run, thread } = event
    if (event.kind === 'run_start') {
      const { continues } = event
      this.#begin({ run, thread, continues, link: this.#paused.get(continues ?? '') })
      if (continues !== undefined) this.#paused.delete(continues)
    } else if (event.kind === 'run_end') this.#finish(run, 'success')
    else if (event.kind === 'run_interrupt') this.#finish(run, 'interrupted')
    else if (event.kind === 'run_error') this.#finish(run, 'error', event.errorType)
  }

  /** Something begins that a hook may be told the end of, as the same invocation. */
  begin(inv: { readonly ctx: RunContext }, made: Made): void {
    const of = this.of(inv.ctx)
    const around = context.active()
    const part = of ? of.begin(made, inv.ctx) : new Part(this.#tracer(), made, () => around)
    this.#parts.set(inv, { part, of })
  }

  end(inv: object, attributes: () => Attributes): void {
    this.#ending(inv, (part) => part.end(attributes()))
  }

  fail(inv: object, error: unknown): void {
    this.#ending(inv, (part) => part.fail(error))
  }

  #ending(inv: object, end: (part: Part) => void): void {
    const { part, of } = this.#parts.get(inv) ?? {}
    this.#parts.delete(inv)
    if (!part) return
    try {
      end(part)
    } finally {
      of?.ended(part)
    }
  }

  #begin(begun: Begun): RunTrace {
    const trace = new RunTrace(this.#tracer(), begun)
    if (this.#runs.size >= MOST) this.#finish(first(this.#runs), undefined)
    this.#runs.set(begun.run, trace)
    return trace
  }

  #finish(run: string, status: Ending, errorType?: string): void {
    const trace = this.#runs.get(run)
    if (!trace) return
    this.#runs.delete(run)
    trace.release?.()
    if (status && status !== 'success') this.#paused.set(run, trace.spanContext)
    if (this.#paused.size > REMEMBERED) this.#paused.delete(first(this.#paused))
    trace.finish(status, errorType)
  }
}

const first = (map: ReadonlyMap<string, unknown>): string => map.keys().next().value ?? ''

/** What comes of work; nothing if it throws: telemetry changes nothing. */
export function quietly<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
