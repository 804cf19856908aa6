// What the cases of `mcpTools` share: real servers and clients of both versions of the SDK, and what came of calls.
import { createExecutor } from 'heddle'
import type { CallResult, Tool } from 'heddle'
import { mcpTools, type McpOptions } from 'heddle/mcp'
import type { Cases } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'
import { desk, type Desk } from '../fakes/mcp-desk.ts'
import type { Connected, Line } from '../fakes/mcp-line.ts'
import { pagedOne, serveOne } from '../fakes/mcp-one.ts'
import { pagedTwo, serveTwo } from '../fakes/mcp-two.ts'

/** How a client gets to a server. */
export type Link = (line: Line) => Promise<Connected>

export const sdks = {
  'SDK 1': { serve: serveOne, paged: pagedOne },
  'SDK 2': { serve: serveTwo, paged: pagedTwo },
} as const

/** What cases are made with: a version of the SDK, and how its clients reach its servers. */
export interface Bench {
  /** Runs with the tools of a server, and closes it. */
  at(
    work: (tools: readonly Tool[], server: Desk & { readonly line: Line }) => Promise<void>,
    options?: McpOptions,
  ): Promise<void>
  /** The tools of a server that lists what `pageOf` says. */
  listing(
    pageOf: (cursor: string | undefined) => object,
    options?: McpOptions,
  ): Promise<readonly Tool[]>
}

export function benchOf({ serve, paged }: (typeof sdks)[keyof typeof sdks], link: Link): Bench {
  const reach = async <Value>(
    line: Line,
    options: McpOptions,
    work: (tools: readonly Tool[]) => Promise<Value> | Value,
  ): Promise<Value> => {
    const { client, close } = await link(line)
    try {
      return await work(await mcpTools(client, options))
    } finally {
      await close()
      await line.close()
    }
  }
  return {
    async at(work, options = { approve: false }) {
      const server = desk()
      const line = await serve(server)
      return reach(line, options, (tools) => work(tools, { ...server, line }))
    },
    async listing(pageOf, options = {}) {
      return reach(await paged(pageOf), options, (tools) => tools)
    },
  }
}

export function prefixed(prefix: string, cases: Cases): Cases {
  return Object.fromEntries(Object.entries(cases).map(([name, run]) => [`${prefix}: ${name}`, run]))
}

export function runAll(
  tools: readonly Tool[],
  calls: readonly (readonly [string, unknown])[],
): Promise<readonly CallResult[]> {
  return createExecutor({ tools, logger: silent }).runAll(
    calls.map(([tool, args]) => ({ tool, args })),
  )
}

export function named(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((one) => one.name === name)
  if (!found) throw new Error(`there is no tool ${name}`)
  return found
}

export function valueOf(result: CallResult | undefined): unknown {
  if (result?.status !== 'success')
    throw new Error(`no success: ${String((result as { error?: unknown }).error)}`)
  return sortedIn(result.value)
}

export function errorOf(result: CallResult | undefined): Error {
  if (result?.status !== 'error') throw new Error(`no error: ${result?.status}`)
  return result.error as Error
}

/** Blocks with their members in one order: each SDK has its own. */
function sorted(content: readonly object[]): object[] {
  return content.map((block) =>
    Object.fromEntries(
      Object.entries(block)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, name === 'resource' ? sorted([value])[0] : value]),
    ),
  )
}

export function sortedIn(value: unknown): unknown {
  const { content } = Object(value) as { content?: object[] }
  return Array.isArray(content) ? { ...(value as object), content: sorted(content) } : value
}

/** Waits until something is so; the runner's own limit ends what never is. */
export async function until(so: () => boolean): Promise<void> {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 2))
}
