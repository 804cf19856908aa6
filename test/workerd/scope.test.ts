import { env, runInDurableObject } from 'cloudflare:test'
import { expect, test } from 'vitest'
import { closeScope, LoopRunner, scoped, scopeLocal, type Scope } from '../../src/index.ts'
import { carried } from '../scope/current.suite.ts'
import { suite } from '../scope/scope.suite.ts'
import type { Room } from './worker.ts'

const { ROOM } = env as unknown as { readonly ROOM: DurableObjectNamespace<Room> }
const runners = new WeakMap<Room, LoopRunner>()
let made = 0
/** A client that works where it was made only, as those of the platform do. */
const clients = scopeLocal(() => {
  const { signal } = new AbortController()
  return { n: ++made, ask: () => signal.aborted }
})

for (const { name, run } of suite) test(name, run)
// The pool adds nodejs_compat, and with it AsyncLocalStorage.
for (const { name, run } of carried) test(name, run)

test('a Durable Object keeps one runner warm over its requests, until it closes it', async () => {
  const [one, other] = [ROOM.get(ROOM.newUniqueId()), ROOM.get(ROOM.newUniqueId())]
  const ask = (stub: DurableObjectStub<Room>): Promise<number> =>
    runInDurableObject(stub, (room) =>
      runnerOf(room).run((scope) => {
        expect(clients.get(scope).ask()).toBe(false)
        return clients.get(scope).n
      }),
    )
  const first = await ask(one)
  expect([await ask(one), await ask(one)]).toEqual([first, first])
  expect(await ask(other)).not.toBe(first)
  await runInDurableObject(one, (room) => runnerOf(room).close())
  await expect(ask(one)).rejects.toThrow('Cannot run work: this LoopRunner is closed')
})

test('what was opened in one object is refused in another, by our error', async () => {
  const [one, other] = [ROOM.get(ROOM.newUniqueId()), ROOM.get(ROOM.newUniqueId())]
  let kept!: Scope
  const runner = new LoopRunner()
  await runInDurableObject(one, (room) => {
    void scoped((scope) => {
      kept = scope
      clients.get(scope)
      return new Promise<never>(() => {})
    })
    runners.set(room, runner)
    return runner.run(() => 1)
  })
  const attempts = [
    () => clients.get(kept),
    () => closeScope(kept),
    () => kept.defer(() => {}),
    () => runner.run(() => 1),
    () => runner.close(),
  ]
  for (const attempt of attempts) {
    const name = await runInDurableObject(other, async () => {
      try {
        await attempt()
        return 'nothing'
      } catch (error) {
        return (error as Error).name
      }
    })
    expect(name).toBe('ToolUsageError')
  }
  expect(await runInDurableObject(one, () => runner.run(() => 2))).toBe(2)
})

function runnerOf(room: Room): LoopRunner {
  const runner = runners.get(room) ?? new LoopRunner()
  runners.set(room, runner)
  return runner
}
