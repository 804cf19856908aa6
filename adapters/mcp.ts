import { tool, ToolUsageError } from '../src/index.ts'
import type { Approve, JsonSchema, Schema, Tool, ToolContext } from '../src/index.ts'

/** The part of a Model Context Protocol client this adapter uses: those of the TypeScript SDK have it, version 1 and 2. */
export interface McpClient {
  listTools(params?: { cursor?: string }): Promise<{
    tools: McpTool[]
    nextCursor?: string | undefined
  }>
  /** SDK 1 takes a schema before the options, SDK 2 (known by its `getProtocolEra`) doesn't. */
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    ...rest: unknown[]
  ): Promise<unknown>
}

/** A tool as its server lists it. */
export interface McpTool {
  name: string
  title?: string | undefined
  description?: string | undefined
  inputSchema: JsonSchema
}

/** Which tools are made, and how. Tools are named as the server names them, without the prefix. */
export interface McpOptions {
  /** Whether a call needs a person: for all tools, or by name. A tool that isn't named does. @default true */
  readonly approve?: Approve<Args> | { readonly [tool: string]: Approve<Args> }
  /** Put before each name. @default '' */
  readonly prefix?: string
  /** The tools to make. @default all */
  readonly only?: readonly string[]
  /** Milliseconds for one call, from 1 to 2³¹ − 1. @default 60_000 */
  readonly timeout?: number
}

type Args = Readonly<Record<string, unknown>>

/** What a call comes back with. */
interface Answer {
  readonly content?: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

const LONGEST = 2_147_483_647
/** More pages than a server with any sense has. */
const PAGES = 100

/**
 * Turns the tools of a Model Context Protocol server into tools of heddle. They ask for approval unless `approve` says
 * otherwise; what a server says of its tools, that one only reads for instance, isn't relied on. The list is read once.
 *
 * A call gives the structured content if there is any, else the text; with images, sounds or resources among it,
 * `{ content, structuredContent? }`. What the server calls an error rejects with its text. Progress is emitted.
 *
 * @param client A connected client; it stays the caller's to close
 * @throws {ToolUsageError} `only` or `approve` names a tool that the server lacks, or its list has no end
 * @throws {TypeError | RangeError} A wrong option, or one that isn't known
 */
export async function mcpTools(
  client: McpClient,
  options: McpOptions = {},
): Promise<readonly Tool<Args | undefined, unknown>[]> {
  const { approve = true, prefix = '', only, timeout = 60_000, ...more } = options
  for (const name of Object.keys(more))
    throw new TypeError(`Cannot use MCP tools: "${name}" is not known here`)
  if (typeof client?.listTools !== 'function' || typeof client.callTool !== 'function')
    throw new TypeError('Cannot use MCP tools: the client has no listTools and callTool')
  if (approve === null || !['boolean', 'function', 'object'].includes(typeof approve))
    throw new TypeError('Cannot use MCP tools: approve is no boolean, function or object')
  if (only !== undefined && !Array.isArray(only))
    throw new TypeError('Cannot use MCP tools: only is not a list of names')
  if (typeof prefix !== 'string')
    throw new TypeError('Cannot use MCP tools: the prefix is not a string')
  const listed = await list(client)
  const named = (name: string): McpTool => {
    const found = listed.get(name)
    if (found) return found
    const names = [...listed.keys()].map((one) => `"${one}"`).join(', ')
    throw new ToolUsageError(
      `Cannot use MCP tool "${name}": the server has ${names || 'no tools'}`,
      { tool: name },
    )
  }
  const ruleOf = (name: string): Approve<Args> => {
    if (typeof approve !== 'object') return approve
    return (Object.hasOwn(approve, name) ? approve[name] : undefined) ?? true
  }
  if (typeof approve === 'object') Object.keys(approve).forEach(named)
  const wanted = only ? [...new Set(only)].map(named) : [...listed.values()]
  return wanted.map(({ name, title, description, inputSchema }) =>
    tool({
      name: prefix + name,
      description: description ?? title ?? '',
      input: argsLike(inputSchema),
      parameters: inputSchema,
      approve: ruleOf(name),
      timeout,
      run: (args, ctx) => call(client, name, args, ctx),
    }),
  )
}

/** All tools, page by page, by name. */
async function list(client: McpClient): Promise<ReadonlyMap<string, McpTool>> {
  const found = new Map<string, McpTool>()
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const page = await client.listTools(...(cursor === undefined ? [] : [{ cursor }]))
    for (const one of page.tools) if (!found.has(one.name)) found.set(one.name, one)
    cursor = page.nextCursor
    if (!cursor) return found
    if (cursors.has(cursor) || cursors.size >= PAGES)
      throw new ToolUsageError('Cannot list the tools of the MCP server: its list has no end', {})
    cursors.add(cursor)
  }
}

/** An object with what is required. The rest the server checks by itself. */
function argsLike(schema: JsonSchema): Schema<Args | undefined, Record<string, unknown>> {
  const { required } = schema
  return {
    '~standard': {
      version: 1,
      vendor: 'heddle',
      validate(value = {}) {
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          return { issues: [{ message: 'Expected an object' }] }
        const issues = (Array.isArray(required) ? required : [])
          .filter((name: string) => !Object.hasOwn(value, name))
          .map((name: string) => ({ message: 'Required', path: [name] }))
        return issues.length > 0 ? { issues } : { value: value as Record<string, unknown> }
      },
    },
  }
}

async function call(
  client: McpClient,
  name: string,
  args: Record<string, unknown>,
  ctx: ToolContext,
): Promise<unknown> {
  const { signal } = ctx
  signal.throwIfAborted()
  // SDK 1 never takes its listener away, and a call that is long over would be cancelled by a late abort.
  const own = new AbortController()
  const abort = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', abort)
  let told = Promise.resolve()
  const onprogress = (progress: unknown): void => {
    told = told.then(() => ctx.emit(progress))
    told.catch(() => {})
  }
  // The tool's own timeout counts, not the SDK's.
  const options = { signal: own.signal, onprogress, timeout: LONGEST }
  try {
    const params = { name, arguments: args }
    const rest = 'getProtocolEra' in client ? [options] : [undefined, options]
    const answer = (await client.callTool(params, ...rest)) as Answer
    await told
    return valueOf(name, answer)
  } catch (error) {
    // Why the call was stopped, not how the SDK puts it.
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function valueOf(name: string, { content = [], structuredContent, isError }: Answer): unknown {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const told = structuredContent !== undefined
  const mixed = content.some(({ type }) => type !== 'text')
  const whole = { content, ...(told && { structuredContent }) }
  if (!isError) return mixed ? whole : told ? structuredContent : text
  const silence = `Cannot finish MCP tool "${name}": it failed, and its server doesn't say why`
  throw new Error(text || silence, mixed || told ? { cause: whole } : {})
}
