// Runs the benches, one after the other: npm run bench [-- name…]
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const chosen = process.argv.slice(2)
const all = readdirSync('bench')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replace(/\.ts$/, ''))
const unknown = chosen.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  throw new Error(`Cannot run bench "${unknown[0]}": there are ${all.join(', ')}`)
}
for (const name of chosen.length > 0 ? chosen : all) {
  console.log(`\n${name}`)
  const { status } = spawnSync('node', ['scripts/run.mjs', `bench/${name}.ts`], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
