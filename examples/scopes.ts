// Clients that live as long as a call, a limit on its time, and the context of the code that runs.
import * as z from 'zod'
import {
  createExecutor,
  currentContext,
  newId,
  scoped,
  scopeLocal,
  tool,
  withContext,
} from 'heddle'
import type { RunContext } from 'heddle'

/** Stands in for a client that works in the scope that made it, and nowhere else. */
class Client {
  closed = false
  get(path: string): string {
    if (this.closed) throw new Error('this client is closed')
    return `GET ${path}`
  }
  close(): void {
    this.closed = true
  }
}

const created: Client[] = []
const clients = scopeLocal(
  () => {
    const client = new Client()
    created.push(client)
    return client
  },
  { close: (client) => client.close() },
)

const fetchPage = tool({
  name: 'fetch',
  description: 'Fetch a page.',
  input: z.object({ path: z.string() }),
  run: ({ path }, ctx) => clients.get(ctx.scope).get(path), // this scope's client, made on first use
})
const executor = createExecutor({ tools: [fetchPage] })

/** Fetches two pages with one client, which is closed before the result is there. */
function fetchBoth(): Promise<readonly string[]> {
  const paths = ['/returns', '/rates']
  return scoped(
    (scope) => Promise.all(paths.map((path) => executor.run(fetchPage, { path }, { scope }))),
    { timeout: 30_000 },
  )
}

/** What a nested function sees of the run it is in, though nobody passed it a context. */
function kindOfRun(ctx: RunContext): string {
  return withContext(ctx, () => nested())
}
function nested(): string {
  return currentContext()?.run?.slice(0, 4) ?? '-'
}

const whichRun = tool({
  name: 'which_run',
  description: 'Tell what kind of run this is.',
  input: z.object({}),
  run: (_, ctx) => kindOfRun(ctx),
})

console.log(
  await fetchBoth(),
  created.map(({ closed }) => closed),
)
console.log(await createExecutor({ tools: [whichRun] }).run(whichRun, {}, { run: newId('run_') }))
