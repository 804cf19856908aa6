// One node that is tried as often as it is told to be.
import { field, graph, type Context, type Graph, type Retry, type StreamEvent } from 'heddle'

export const tried = (
  run: (attempt: number, ctx: Context<unknown>) => unknown,
  settings: { readonly retry?: Retry; readonly timeout?: number },
): { readonly make: () => Graph; readonly calls: { n: number } } => {
  const calls = { n: 0 }
  const make = (): Graph =>
    graph({
      name: 'tried',
      state: { x: field<unknown>(0) },
      events: field<unknown>(),
      nodes: { n: { run: (_, ctx) => run(++calls.n, ctx) as object, ...settings } },
      edges: { start: 'n', n: 'end' },
    })
  return { make, calls }
}

export const starts = (events: readonly StreamEvent[]): number[] =>
  events.flatMap((event) => (event.kind === 'node_start' ? [event.attempt] : []))
