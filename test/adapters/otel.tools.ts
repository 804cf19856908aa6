// Spans as the real SDK of OpenTelemetry records them, as trees.
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { compile, memory, tool, type CompileOptions, type Graph, type ToolContext } from 'heddle'
import { otel, type OtelOptions } from 'heddle/otel'
import { z } from 'zod'
import { silent } from '../fakes/silent.ts'

/** An app that is traced, and its spans. */
export function traced<G extends Graph>(
  graph: G,
  { content = false, ...options }: CompileOptions & Pick<OtelOptions, 'content'> = {},
) {
  const spans = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const trace = otel({ tracer: provider.getTracer('test'), content })
  const settings = { store: memory(), logger: silent, hooks: [trace], monitor: trace, ...options }
  const app = compile(graph, settings)
  return {
    app,
    trace,
    /** What has ended since it was last asked. */
    spans(): ReadableSpan[] {
      const found = [...spans.getFinishedSpans()]
      spans.reset()
      return found
    },
  }
}

/** A tool that takes anything. */
export const does = (
  name: string,
  run: (args: object, ctx: ToolContext) => unknown,
  more: { readonly approve?: boolean } = {},
) =>
  tool({
    name,
    description: `Does ${name}`,
    input: z.looseObject({}),
    run,
    ...more,
  })

/** Spans as lines, by what they begin in: two spaces for each level, in the order in which they began; tools of a batch by name. */
export function tree(spans: readonly ReadableSpan[]): string[] {
  const ids = spans.map((span) => span.spanContext().spanId)
  const under = (parent: string | undefined, depth: string): string[] => {
    const found = spans.filter(({ parentSpanContext }) => {
      const id = parentSpanContext?.spanId
      return parent === undefined ? !id || !ids.includes(id) : id === parent
    })
    const inOrder = found.toSorted((a, b) => begun(a) - begun(b))
    for (const [n, span] of inOrder.entries())
      for (let m = n; isTool(span) && m > 0 && isTool(inOrder[m - 1]!); m--)
        if (inOrder[m - 1]!.name > inOrder[m]!.name)
          inOrder.splice(m - 1, 2, inOrder[m]!, inOrder[m - 1]!)
    return inOrder.flatMap((span) => [
      `${depth}${span.name}${noted(span)}`,
      ...under(span.spanContext().spanId, `${depth}  `),
    ])
  }
  return under(undefined, '')
}

const isTool = ({ name }: ReadableSpan): boolean => name.startsWith('execute_tool')

/** How it ended, if not well. */
function noted({ attributes, status }: ReadableSpan): string {
  const { 'heddle.ended': ended, 'error.type': error, 'heddle.run.status': how } = attributes
  const notes = [ended, how === 'success' ? undefined : how, error, ['', '', 'ERROR'][status.code]]
  const told = notes.filter(Boolean).join(' ')
  return told && ` (${told})`
}

const begun = ({ startTime: [seconds, nanos] }: ReadableSpan): number => seconds * 1e9 + nanos
