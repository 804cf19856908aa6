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
  /** Its span, if that has been made. */
  seen: Span | undefined
  /** When something was last seen of it, in milliseconds since 1970. */
  last: number = this.#since
  /** What it failed with. */
  error: unknown
  /** The model that it is a request to, or asked first. */
  model: unknown

  constructor(tracer: Tracer, made: Made, outer: () => Context) {
    this.#tracer = tracer
    this.#made = made
    this.#outer = outer
    this.model = made.attributes['gen_ai.request.model']
  }

  get span(): Span {
    const { name, ...rest } = this.#made
    return (this.seen ??= this.#tracer.startSpan(
      name,
      { ...rest, startTime: this.#since },
      this.#outer(),
    ))
  }

  /** What its children begin in. */
  get context(): Context {
    return trace.setSpan(this.#outer(), this.span)
  }

  /** Takes over what is asked. */
  ask({ 'gen_ai.provider.name': provider, 'gen_ai.request.model': model }: Attributes): void {
    this.model = model
    this.span.setAttributes({ 'gen_ai.provider.name': provider, 'gen_ai.request.model': model })
  }

  end(attributes: Attributes = {}, at?: number): void {
    const { span, error } = this
    span.setAttributes(attributes)
    if (error) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      span.setAttributes({ 'error.type': errorKind(error) })
    }
    span.end(at)
  }

  fail(error: unknown): void {
    this.error = Object(error)
    this.end()
  }
}
