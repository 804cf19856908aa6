import { indexedDb } from 'heddle/indexeddb'
import { phase, report } from './page.ts'

const events: string[] = []
const store = indexedDb({ name: 'killed', onEvent: ({ kind }) => events.push(kind) })

if (phase === 'write') {
  const start = (await store.list({ prefix: 'h/', limit: 100_000 })).length
  // Goes on writing until it is killed, in the middle of some commit. Some reports are always on their way.
  const reports: Promise<void>[] = []
  for (let n = start + 1; ; n++) {
    const value = `${n}`.padEnd(5000, '.')
    const puts = [`h/${n}`, `t/${n}`].map((key) => ({ key, value }))
    const revision = await store.commit({ puts, durable: true })
    if (revision !== undefined) reports.push(report(n))
    if (reports.length > 4) await reports.shift()
  }
} else {
  const entries = await store.list({ prefix: '', limit: 100_000 })
  const rows = entries.map(
    ({ key, value }) => `${key} ${value.replaceAll('.', '')} ${value.length}`,
  )
  await report({ rows, events })
}
