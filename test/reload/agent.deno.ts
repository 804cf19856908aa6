import { denoKv } from 'heddle/deno-kv'
import { visit } from './agent.ts'

const kv = await Deno.openKv(Deno.args[0])
await visit(denoKv(kv), console.log)
kv.close()
