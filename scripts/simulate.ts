// Plays seeds: npm run simulate -- [--seeds N] [--from N] [--store memory|kv|kv-lease] [--trace]
import { parseArgs } from 'node:util'
import { brief, told } from '../test/simulate/report.ts'
import { simulate } from '../test/simulate/simulate.ts'
import { STORES, type StoreName } from '../test/simulate/stores.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    store: { type: 'string' },
    trace: { type: 'boolean', default: false },
    failures: { type: 'string', default: '1' },
    brief: { type: 'boolean', default: false },
  },
})
const stores = values.store === undefined ? STORES : [values.store as StoreName]
for (const store of stores)
  if (!STORES.includes(store))
    throw new Error(`Cannot simulate store "${store}": there are ${STORES.join(', ')}`)

const start = Date.now()
let played = 0
let failed = 0
const from = Number(values.from)
for (let seed = from; seed < from + Number(values.seeds); seed++) {
  for (const store of stores) {
    const result = await simulate(seed, { store, traced: values.trace })
    played++
    if (values.trace) console.log(result.trace.join('\n'))
    if (result.violations.length > 0) {
      // The first is told whole, those after it in a line.
      console.log(failed++ === 0 && !values.brief ? await told(result) : brief(result))
    }
  }
  if (failed >= Number(values.failures)) break
  if (played % 5000 < stores.length)
    console.log(`${played} played, ${((Date.now() - start) / played).toFixed(1)} ms each`)
}
const { user } = process.cpuUsage()
const each = (user / 1000 / played).toFixed(1)
console.log(
  `${played} played in ${((Date.now() - start) / 1000).toFixed(1)} s, ${each} ms of a processor each; ${failed} failed`,
)
process.exitCode = failed > 0 ? 1 : 0
