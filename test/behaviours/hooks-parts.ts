// What the tests of hooks around nodes share.
import { field, graph, type Context, type Graph, type Hook, type Logger } from 'heddle'

export type Run = (state: { x: number; list: number[] }, ctx: Context<unknown>) => unknown

/** A graph of such nodes. */
export const nodes = (
  table: Readonly<Record<string, Run | object>>,
  edges: object,
  name = 'told',
): Graph =>
  graph({
    name,
    state: { x: field<number>(0), list: field<number[]>([]) },
    nodes: table,
    edges,
  } as never)

/** One node. */
export const one = (a: Run, more: object = {}): Graph =>
  nodes({ a: { run: a, ...more } }, { start: 'a', a: 'end' }, 'one')

/** One node, then another. */
export const two = (a: Run, b: Run = () => ({}), more: object = {}): Graph =>
  nodes({ a: { run: a, ...more }, b }, { start: 'a', a: 'b', b: 'end' }, 'two')

/** A hook that writes down what it is called for. */
export const scribe = (name: string, seen: string[]): Hook => ({
  name,
  beforeNode: ({ node }) => void seen.push(`${name} before ${node}`),
  afterNode: ({ node }) => void seen.push(`${name} after ${node}`),
  onNodeError: ({ node }) => void seen.push(`${name} error ${node}`),
})

/** A logger that keeps what it is told. */
export function kept(): { readonly logger: Logger; readonly lines: [string, string, unknown][] } {
  const lines: [string, string, unknown][] = []
  const level =
    (name: string) =>
    (message: string, data?: object): void =>
      void lines.push([name, message, data])
  return { logger: { debug: level('debug'), warn: level('warn'), error: level('error') }, lines }
}

export const never = (): Promise<never> => new Promise(() => {})
