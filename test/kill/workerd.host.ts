// Prints what `worker.js` in a folder answers to a path, on databases that lie there: workerd.host.ts <folder> <path>.
import { readFileSync } from 'node:fs'
import { Miniflare } from 'miniflare'

const [folder, path] = process.argv.slice(-2) as [string, string]
const miniflare = new Miniflare({
  modules: true,
  script: readFileSync(`${folder}/worker.js`, 'utf8'),
  compatibilityDate: '2026-04-01',
  compatibilityFlags: [],
  d1Databases: { DB: 'killed' },
  d1Persist: `${folder}/d1`,
  durableObjects: { ROOM: { className: 'Room', useSQLite: true } },
  durableObjectsPersist: `${folder}/objects`,
  cf: false,
})
const { body } = await miniflare.dispatchFetch(`http://localhost${path}`)
for await (const chunk of body!) process.stdout.write(chunk as Uint8Array)
await miniflare.dispose()
