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

/** What a nested function sees, though nobody passed it a context. */
function kindOfRun(): string {
  return currentContext()?.run?.slice(0, 4) ?? '-'
}

console.log(
  await fetchBoth(),
  created.map(({ closed }) => closed),
)
console.log(withContext({ run: newId('run_') }, () => kindOfRun()))
