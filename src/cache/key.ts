import type { CacheScope } from '../graph/graph.ts'
import { digest } from './canonical.ts'

/** Whose a cached result is: the ids that scopes need, as far as they are known. */
export interface KeyScope {
  readonly scope: CacheScope
  /** The root run, so that runs which go on from it share what it has cached. */
  readonly runId?: string | undefined
  readonly threadId?: string | undefined
}

/** What the key of a tool's result is made of. */
export interface ToolKeyParts extends KeyScope {
  readonly ns: string
  readonly tool: string
  readonly args: unknown
}

/** What the key of a model's response is made of. */
export interface LlmKeyParts {
  readonly ns: string
  readonly provider: string
  readonly model: string
  readonly payload: unknown
}

/** What the key of an explicit cache of Gemini is made of. */
export interface GeminiKeyParts {
  readonly ns: string
  readonly model: string
  readonly prefixDigest: string
}

/** Builds the keys of caches: plain text, in which `%` and `:` of a part are percent-encoded, so that no two lists of parts have one key. */
export interface CacheKey {
  /**
   * `{ns}:tool:v1:run={runId}:{tool}:{digest(args)}`, with `thread={threadId}` or `global` in the place of the run. A scope
   * whose id isn't given has no key: don't cache.
   *
   * @throws UnserializableValue for arguments that canonical JSON can't hold: don't cache
   */
  tool(parts: ToolKeyParts): Promise<string | undefined>
  /**
   * `{ns}:llm:v1:{provider}:{model}:{digest(payload)}`
   *
   * @throws UnserializableValue for a payload that canonical JSON can't hold
   */
  llm(parts: LlmKeyParts): Promise<string>
  /** `{ns}:gcache:v1:{model}:{prefixDigest}` */
  gemini(parts: GeminiKeyParts): string
}

/** Builds the keys of caches. */
export const cacheKey: CacheKey = {
  async tool({ ns, tool, args, ...whose }) {
    const scope = scopePart(whose)
    return scope && joined(ns, 'tool', 'v1', scope, tool, await digest(args))
  },
  llm: async ({ ns, provider, model, payload }) =>
    joined(ns, 'llm', 'v1', provider, model, await digest(payload)),
  gemini: ({ ns, model, prefixDigest }) => joined(ns, 'gcache', 'v1', model, prefixDigest),
}

/** The key of a node's result, beside those of the tables: `{ns}:node:v1:{scope}:{graph}:{node}:{digest}`. */
export const nodeKey = (
  ns: string,
  scope: string,
  graph: string,
  node: string,
  hash: string,
): string => joined(ns, 'node', 'v1', scope, graph, node, hash)

/** The part of a key that says whose a result is; nothing if the id that it needs isn't known. */
export function scopePart({ scope, runId, threadId }: KeyScope): string | undefined {
  if (scope === 'global') return scope
  const id = scope === 'run' ? runId : threadId
  return id ? `${scope}=${id}` : undefined
}

/** The namespace of a tenant: what one has cached no other gets, whatever the scope. */
export const tenantNs = (ns: string, tenant: string | undefined): string =>
  tenant ? `${ns}:${tenant}` : ns

const joined = (...parts: readonly string[]): string =>
  parts.map((part) => part.replace(/[%:]/g, (sign) => (sign === '%' ? '%25' : '%3A'))).join(':')
