// Every store that Node can open, by name: opening one again finds its rows.
import 'fake-indexeddb/auto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cloudflareKv } from 'heddle/cloudflare-kv'
import { indexedDb } from 'heddle/indexeddb'
import { afterAll, afterEach, beforeEach, describe, it, vi } from 'vitest'
import { fileStore } from '../../examples/file-store.ts'
import { eventualKv } from '../fakes/eventual-kv.ts'
import { smallStore } from '../fakes/small-store.ts'
import { memoryStores } from '../runtime/memory-stores.ts'
import type { Store } from '../../src/store/store.ts'
import type { Case, Open } from './portable.ts'

const room = mkdtempSync(join(tmpdir(), 'heddle-behaviours-'))
const files = new Map<string, Store>()
const namespaces = new Map<string, ReturnType<typeof eventualKv>>()

afterAll(async () => {
  for (const store of files.values()) await store.close?.()
  rmSync(room, { recursive: true, force: true })
})

const small = memoryStores()
const loose = memoryStores()

const stores: Readonly<Record<string, Open>> = {
  memory: memoryStores(),
  'small values, small batches': async (name) => smallStore(await small(name)),
  'small values, no atomic batches': async (name) =>
    smallStore(await loose(name), { atomic: false }),
  'indexeddb (fake)': (name) => indexedDb({ name }),
  async file(name) {
    await files.get(name)?.close?.()
    files.set(name, await fileStore(join(room, `${name}.log`)))
    return newest(() => files.get(name)!)
  },
  'cloudflare-kv (fake, one place)'(name) {
    const world = namespaces.get(name) ?? eventualKv({ seesOwn: 1, lagMs: 0 })
    namespaces.set(name, world)
    return cloudflareKv(world.at('here'), { singleWriter: true })
  },
}

// One process has the file at a time: who held the store before goes on with the one that was opened last.
function newest(now: () => Store): Store {
  const { name, caps } = now()
  return {
    name,
    caps,
    get: (keys) => now().get(keys),
    list: (range) => now().list(range),
    commit: (batch) => now().commit(batch),
    clear: (prefix) => now().clear(prefix),
  }
}

/** Runs the cases of a suite on every store. */
export function onEveryStore(suite: (open: Open) => readonly Case[]): void {
  for (const [name, open] of Object.entries(stores)) {
    describe(name, () => {
      // The fake namespace takes one write a second of a key, and the time for it passes at once.
      beforeEach(() => {
        if (!name.startsWith('cloudflare')) return
        vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
        vi.setTimerTickMode('nextTimerAsync')
      })
      afterEach(() => void vi.useRealTimers())
      for (const one of suite(open)) it(one.name, one.run)
    })
  }
}
