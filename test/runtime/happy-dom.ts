import 'fake-indexeddb/auto'
import { indexedDb } from 'heddle/indexeddb'
import { builtinEnvironments } from 'vitest/runtime'
import { report } from './report.ts'
import { suites } from './suites.ts'

await builtinEnvironments['happy-dom'].setup(globalThis, {})
console.log(`@@${JSON.stringify(await report('happy-dom', (name) => indexedDb({ name }), suites))}`)
process.exit()
