import { indexedDb } from 'heddle/indexeddb'
import { phase, report } from './page.ts'

const store = indexedDb({ name: 'killed' })

if (phase === 'write') {
  const start = (await store.list({ prefix: 'h/', limit: 100_000 })).length
  // Goes on writing until it is killed, in the middle of some commit.
  for (let n = start + 1; ; n++) {
    const value = `${n}`.padEnd(5000, '.')
    const puts = [`h/${n}`, `t/${n}`].map((key) => ({ key, value }))
    const revision = await store.commit({ puts, durable: true })
    if (revision !== undefined) void report(n)
  }
} else {
  const entries = await store.list({ prefix: '', limit: 100_000 })
  await report(
    entries.map(({ key, value }) => `${key} ${value.replaceAll('.', '')} ${value.length}`),
  )
}
