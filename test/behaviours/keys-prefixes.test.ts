// B21: two runtimes that share a namespace under different prefixes see nothing of each other.
import { compile } from 'heddle'
import { cloudflareKv } from 'heddle/cloudflare-kv'
import { expect, test } from 'vitest'
import { eventualKv } from '../fakes/eventual-kv.ts'
import { all } from './harness.ts'
import { counter } from './keys-tools.ts'

test('prefixes of which one begins with the other keep apart, pointers to the newest included', async () => {
  const world = eventualKv({ seesOwn: 1, lagMs: 0 })
  const prefixes = ['p', 'p:lg', 'p/', 'p:', '']
  const apps = prefixes.map((prefix) =>
    compile(counter('g'), {
      store: cloudflareKv(world.at('here'), { prefix, singleWriter: true }),
    }),
  )
  for (const [id, app] of apps.entries()) await app.run({ thread: 't', input: { id } })
  await apps[0]!.run({ thread: 'only here', input: { id: 9 } })
  for (const [id, app] of apps.entries()) {
    expect((await app.state('t'))?.state).toEqual({ id })
    expect(await all(app.history('t'))).toHaveLength(1)
    expect((await all(app.threads())).map((one) => one.id)).toEqual(
      id === 0 ? ['only here', 't'] : ['t'],
    )
    expect((await app.state('only here')) === undefined).toBe(id !== 0)
  }
  await apps[0]!.delete('t')
  for (const [id, app] of apps.entries())
    expect((await app.state('t'))?.state).toEqual(id === 0 ? undefined : { id })
}, 60_000)
