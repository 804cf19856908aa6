import { SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Link, Span, SpanKind, Tracer } from '@opentelemetry/api'
import { errorKind } from './attributes.ts'

/** What a span is made of. */
export interface Made {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  readonly links?: Link[]
}

/** One span that starts in time, but is made when it is needed first: of what never came to be there is none. */
export class Part {
  readonly #tracer: Tracer
  readonly #made: Made
  readonly #outer: () => Context
  readonly #since = Date.now()
  #span: Span | undefined
  /** When something was last seen of it, in milliseconds since 1970. */
  last: number = this.#since

  constructor(tracer: Tracer, made: Made, outer: () => Context) {
    this.#tracer = tracer
    this.#made = made
    this.#outer = outer
  }

  get span(): Span {
    const { name, ...rest } = this.#made
    return (this.#span ??= this.#tracer.startSpan(
      name,
      { ...rest, startTime: this.#since },
      this.#outer(),
    ))
  }

  /** What its children begin in. */
  get context(): Context {
    return trace.setSpan(this.#outer(), this.span)
  }

  /** Whether its span has been made. */
  get isSeen(): boolean {
    return this.#span !== undefined
  }

  end(attributes: Attributes = {}, at?: number): void {
    this.span.setAttributes(attributes)
    this.span.end(at)
  }

  fail(error: unknown): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR })
    this.end({ 'error.type': errorKind(error) })
  }
}
