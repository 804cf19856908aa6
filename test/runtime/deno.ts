import { denoKv } from 'heddle/deno-kv'
import { memoryStores } from './memory-stores.ts'
import { reportOn } from './several.ts'
import type { Open } from './report.ts'
import { suites } from './suites.ts'

// Where to keep a database; without it everything stays in memory, and Deno is asked for no permission.
const [file] = Deno.args
const kv = await Deno.openKv(file ?? ':memory:')
const onKv: Open = (name) => denoKv(kv, { prefix: name })
const stores: Readonly<Record<string, Open>> = file
  ? { 'Deno KV in a file': onKv }
  : { memory: memoryStores(), 'Deno KV': onKv }
console.log(`@@${JSON.stringify(await reportOn('deno', stores, suites))}`)
kv.close()
