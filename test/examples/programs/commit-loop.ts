// Commits without end, and says so only once a commit has settled: made to be killed.
import { writeSync } from 'node:fs'
import { fileStore } from '../../../examples/file-store.ts'

const [path, first] = process.argv.slice(2)
const store = await fileStore(path!, { compactAt: 200_000 })
const kept = 40

for (let n = Number(first); ; n++) {
  const value = JSON.stringify({ n, filler: 'x'.repeat((n * 7919) % 30_000) })
  const revision = await store.commit({
    puts: [
      { key: `left/${name(n)}`, value },
      { key: `right/${name(n)}`, value },
    ],
    deletes: [`left/${name(n - kept)}`, `right/${name(n - kept)}`],
    ...(n % 10 === 0 ? { durable: true } : {}),
  })
  writeSync(1, `${n} ${revision}\n`)
}

function name(n: number): string {
  return String(Math.max(n, 0)).padStart(8, '0')
}
