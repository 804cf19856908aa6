import { SpanKind, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import type { Hook, Monitor } from '../src/index.ts'
import { chatAttributes, known, replyAttributes, toolAttributes } from './otel/attributes.ts'
import { quietly, Traces } from './otel/traces.ts'

/** Where spans go, and what they say. */
export interface OtelOptions {
  /** @default the global one, named 'heddle' */
  readonly tracer?: Tracer
  /** Records prompts, arguments and answers. @default false */
  readonly content?: boolean
}

/**
 * Traces by the GenAI conventions of OpenTelemetry: a span for each run, in it one for each agent, in that one for each
 * request to a model and each call of a tool. A run that continues another is linked to it, if that one ended in this
 * process, and names it. Work that is replayed after a pause or a crash has no spans. A tracer that throws changes nothing.
 *
 * `const trace = otel()`, then `compile(graph, { hooks: [trace], monitor: trace })`.
 *
 * @throws {TypeError} An option that isn't known, or a wrong one
 */
export function otel(options: OtelOptions = {}): Hook & Monitor {
  const { tracer, content = false, ...more } = options
  for (const name of Object.keys(more))
    throw new TypeError(`Cannot trace: "${name}" is not known here`)
  if ((tracer && !tracer.startSpan) || typeof content !== 'boolean')
    throw new TypeError('Cannot trace: the tracer has no startSpan, or content is not a boolean')
  const traces = new Traces(() => tracer ?? trace.getTracer('heddle'))
  return {
    name: 'otel',
    emit: (event) => void quietly(() => traces.tell(event)),
    beforeNode: (inv) => void quietly(() => traces.of(inv.ctx)?.node(inv)),
    beforeTool: (inv) =>
      void quietly(() => {
        const attributes = toolAttributes(inv, content)
        traces.begin(inv, {
          name: `execute_tool ${inv.spec.name}`,
          kind: SpanKind.INTERNAL,
          attributes,
        })
      }),
    afterTool: (inv, value) =>
      void quietly(() =>
        traces.end(inv, () =>
          known({
            'gen_ai.tool.call.result': content ? quietly(() => JSON.stringify(value)) : undefined,
          }),
        ),
      ),
    onToolError: (inv, error) => void quietly(() => traces.fail(inv, error)),
    beforeLlm: (inv) =>
      void quietly(() => {
        const attributes = chatAttributes(inv, content)
        traces.begin(inv, { name: `chat ${inv.model}`, kind: SpanKind.CLIENT, attributes })
      }),
    afterLlm: (inv, reply) =>
      void quietly(() => traces.end(inv, () => replyAttributes(reply, content))),
    onLlmError: (inv, error) => void quietly(() => traces.fail(inv, error)),
  }
}
