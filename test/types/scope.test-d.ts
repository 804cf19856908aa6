// What the compiler knows of scopes.
import { currentContext, LoopRunner, newId, scoped, scopeLocal, withContext } from 'heddle'
import type { RunContext, Scope, ScopeLocal, ToolContext } from 'heddle'
import { same } from './same.ts'

// --- work: a value or a promise of one
const sync = scoped(() => 1)
same<typeof sync, Promise<number>>(true)
const late = scoped(async ({ signal }) => signal.aborted, { timeout: 1, graceMs: 0 })
same<typeof late, Promise<boolean>>(true)
// @ts-expect-error work is a function, not a promise
void scoped(Promise.resolve(1))
// @ts-expect-error a misspelt option
void scoped(() => 1, { timout: 1 })
// @ts-expect-error seconds are not text
void scoped(() => 1, { timeout: '30' })

// --- values
class Client {
  close(): void {}
}
const clients = scopeLocal(() => new Client(), { close: (client) => client.close() })
same<typeof clients, ScopeLocal<Client>>(true)
const opened = scopeLocal(async (scope) => (scope.signal.aborted ? 'a' : 'b'), {
  close(value) {
    same<typeof value, 'a' | 'b'>(true)
  },
})
same<ReturnType<typeof opened.get>, Promise<'a' | 'b'>>(true)
declare const scope: Scope
const client: Client = clients.get(scope)
void client
// @ts-expect-error a signal is no scope
clients.get(scope.signal)

// --- runners
const runner = new LoopRunner({ graceMs: 1 })
const ran = runner.run((own) => clients.get(own))
same<typeof ran, Promise<Client>>(true)
// @ts-expect-error a timeout belongs to a call
void new LoopRunner({ timeout: 1 })
export async function disposed(): Promise<number> {
  await using own = new LoopRunner()
  return own.run(() => 1)
}

// --- contexts
declare const ctx: ToolContext
const value = withContext(ctx, () => 'value')
same<typeof value, string>(true)
const node: RunContext = ctx
void withContext(node, async () => newId('run_'))
// What a caller gives to an executor is one, too.
void withContext({ run: newId('run_'), user: 'ann' }, () => currentContext()?.run?.slice(0, 4))
// @ts-expect-error a misspelt part of one
withContext({ rum: newId('run_') }, () => 1)
