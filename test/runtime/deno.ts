import { memoryStores } from './memory-stores.ts'
import { report } from './report.ts'

console.log(`@@${JSON.stringify(await report('deno', memoryStores()))}`)
