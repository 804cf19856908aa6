import { memoryStores } from './memory-stores.ts'
import { report } from './report.ts'
import { suites } from './suites.ts'

console.log(`@@${JSON.stringify(await report('node', memoryStores(), suites))}`)
