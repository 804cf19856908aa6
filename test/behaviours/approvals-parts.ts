// A desk whose tools need approvals: a node hands a batch of calls to `callAll`, as a tools node of an agent does, and the
// next takes what a model would read of it.
import {
  approval,
  field,
  graph,
  isHeddleError,
  tool,
  type ApprovalRequest,
  type Call,
  type CallResult,
  type Graph,
  type Interruption,
  type Tool,
} from 'heddle'
import { z } from 'zod'

/** How often each body ran, and with what. */
export class Effects {
  readonly ran: [tool: string, n: number][] = []

  of(name: string): number {
    return this.ran.filter(([what]) => what === name).length
  }
  get counts(): Record<string, number> {
    return Object.fromEntries(['read', 'send', 'drop'].map((name) => [name, this.of(name)]))
  }
}

export const input = z.object({ n: z.number().int() })

/** Three tools: `read` is free, the others ask. */
export function desk(effects: Effects): readonly Tool[] {
  const one = (name: string, approve: boolean): Tool =>
    tool({
      name,
      description: `Does "${name}".`,
      input,
      approve,
      run({ n }) {
        effects.ran.push([name, n])
        return { did: name, n }
      },
    })
  return [one('read', false), one('send', true), one('drop', true)]
}

/** How many times the node of the batch, and the one that reads the results, were entered. */
export interface Entries {
  tools: number
  reader: number
}

/** Runs a batch, and then reads what came of it. */
export function batch(
  calls: () => readonly Call[],
  entries: Entries = { tools: 0, reader: 0 },
): Graph {
  return graph({
    name: 'desk',
    state: { results: field<readonly CallResult[]>([]), read: field<readonly string[]>([]) },
    nodes: {
      async tools(_, ctx) {
        entries.tools++
        return { results: await ctx.callAll(calls()) }
      },
      reader({ results }) {
        entries.reader++
        return { read: results.map(outcomeOf) }
      },
    },
    edges: { start: 'tools', tools: 'reader', reader: 'end' },
  })
}

/** What a model would be told of a call. */
export function outcomeOf(result: CallResult): string {
  if (result.status === 'success') return `${result.tool}: ${JSON.stringify(result.value)}`
  if (result.status === 'denied') return `${result.tool}: denied, ${result.reason ?? 'no reason'}`
  return `${result.tool}: failed, ${(result.error as Error).name}`
}

/** A call as a model makes it. */
export const wants = (id: string, name: string, n: unknown = 1): Call => ({
  id,
  tool: name,
  raw: JSON.stringify({ n }),
})

/** A node that calls one tool by itself, and says how that ended. */
export function single(called: Tool | string, args: () => unknown = () => ({ n: 1 })): Graph {
  return graph({
    name: 'single',
    state: { end: field<unknown>(null) },
    nodes: {
      async go(_, ctx) {
        try {
          return { end: await ctx.call(called as string, args()) }
        } catch (error) {
          if (!isHeddleError(error)) throw error
          return { end: { code: error.code, details: error.details } }
        }
      },
    },
    edges: { start: 'go', go: 'end' },
  })
}

/** The open approval of a tool. */
export function of(open: readonly Interruption[], name: string): Interruption<ApprovalRequest> {
  const [found, ...more] = open.filter(approval.is).filter(({ payload }) => payload.tool === name)
  if (!found || more.length > 0) throw new Error(`${more.length + (found ? 1 : 0)} of "${name}"`)
  return found
}
