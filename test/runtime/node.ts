import { sealing } from '../store/encrypted.tools.ts'
import { memoryStores } from './memory-stores.ts'
import { reportOn } from './several.ts'
import { suites } from './suites.ts'

const stores = { memory: memoryStores(), 'memory, encrypted': sealing(memoryStores()) }
console.log(`@@${JSON.stringify(await reportOn('node', stores, suites))}`)
