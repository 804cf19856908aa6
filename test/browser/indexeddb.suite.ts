import { indexedDb, type IndexedDbEvent, type IndexedDbOptions } from 'heddle/indexeddb'
import { storeContract } from 'heddle/testing'
import type { Store } from '../../src/store/store.ts'
import {
  deleteDatabase,
  equal,
  freshName,
  openDatabase,
  refusedWith,
  retold,
  tapped,
  type Tap,
} from './indexeddb.tools.ts'

/** One promise of the IndexedDB store, for any test runner in any page. */
export interface Case {
  readonly name: string
  readonly run: () => Promise<void>
}

const names = new Map<Store, string>()

const contract = storeContract({
  create() {
    const name = freshName()
    const store = indexedDb({ name })
    names.set(store, name)
    return store
  },
  async destroy(store) {
    await store.close?.()
    await deleteDatabase(names.get(store)!)
  },
})

const HEAD = 'h/acme.t1'
const head = (value: string) => ({ puts: [{ key: HEAD, value }] })

/** A store under a name of its own, what it tells, and the connections that it makes. */
interface Bench {
  readonly name: string
  readonly store: Store
  readonly tap: Tap
  readonly events: IndexedDbEvent[]
}

const cases: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  async 'opens on first use, once for calls that come together'({ store, tap }) {
    equal(tap.opened, 0, 'databases opened before the first call')
    const calls = Array.from({ length: 10 }, (_, n) => [
      store.get([HEAD]),
      store.commit({ puts: [{ key: `h/acme.t${n}`, value: 'x' }] }),
    ])
    await Promise.all(calls.flat())
    await store.get([HEAD])
    equal(tap.opened, 1, 'databases opened by twenty calls at once and one more')
  },

  async 'an open that fails is tried again by the next call'({ store, tap }) {
    tap.nextOpen(() => {
      throw new DOMException('not now', 'SecurityError')
    })
    equal(await refusedWith(store.get([HEAD])), 'SecurityError', 'a call while opening fails')
    equal(await store.get([HEAD]), [undefined], 'the next call')
  },

  async 'an open that never answers is refused in five seconds'({ store, tap }) {
    const started = Date.now()
    tap.nextOpen((open) => {
      const request = open()
      for (const kind of ['success', 'error']) {
        request.addEventListener(kind, (event) => event.stopImmediatePropagation())
      }
      return request
    })
    const calls = [
      store.get([HEAD]),
      store.commit(head('x')),
      store.list({ prefix: 'h/', limit: 1 }),
    ]
    const outcomes = await Promise.all(calls.map(refusedWith))
    equal(
      outcomes,
      calls.map(() => 'storage_blocked'),
      'calls while it hangs',
    )
    equal(Date.now() - started > 4900, true, 'it took five seconds')
    equal(await store.get([HEAD]), [undefined], 'a call when it answers again')
  },

  async 'a database that other tabs hold is refused in time, and not kept open when it comes late'({
    name,
    store,
    tap,
  }) {
    const other = await openDatabase(name, 1)
    const deleted = deleteDatabase(name)
    equal(await refusedWith(store.get([HEAD])), 'storage_blocked', 'a call while others hold it')
    other.close()
    await deleted
    await tap.settled()
    const [late] = tap.connections
    equal(
      await refusedWith(async () => late!.transaction('rows')),
      'InvalidStateError',
      'a transaction on the late connection',
    )
    equal((await store.commit(head('x'))) === undefined, false, 'a commit when nobody holds it')
  },

  async 'gives way to a newer version, says so, and works on'({ name, store, events }) {
    const revision = await store.commit(head('one'))
    const newer = await openDatabase(name, 2)
    equal(events, [{ kind: 'superseded' }], 'events')
    equal(
      await store.get([HEAD]),
      [{ key: HEAD, value: 'one', revision }],
      'a row after the upgrade',
    )
    equal((await store.commit(head('two'))) === undefined, false, 'a commit after the upgrade')
    newer.close()
  },

  async 'opens again when its handle is closed'({ store, tap }) {
    const revision = await store.commit(head('one'))
    const calls: readonly (() => Promise<unknown>)[] = [
      () => store.get([HEAD]),
      () => store.list({ prefix: 'h/', limit: 1 }),
      () => store.commit({ checks: [{ key: HEAD, revision }] }),
      () => store.clear('t/'),
    ]
    for (const call of calls) {
      tap.connections.at(-1)!.close()
      await call()
    }
    equal(tap.opened, 5, 'databases opened')
    equal(await retold(store, HEAD), 'one', 'the row')
  },

  async 'opens again when the browser ends its connection'({ store, tap, events }) {
    await store.commit(head('one'))
    tap.tell(tap.connections[0]!, 'close')
    equal(await retold(store, HEAD), 'one', 'the row')
    equal([tap.opened, events], [2, []], 'databases opened, and events')
  },

  async 'tells when its database was emptied, and brings nothing back'({
    name,
    store,
    tap,
    events,
  }) {
    const revision = await store.commit(head('one'))
    tap.connections[0]!.close()
    await deleteDatabase(name)
    tap.tell(tap.connections[0]!, 'close')
    const next = { checks: [{ key: HEAD, revision }], ...head('two') }
    equal(await store.commit(next), undefined, 'a commit that knew the old row')
    equal(await store.list({ prefix: '', limit: 9 }), [], 'all rows')
    equal(events, [{ kind: 'reset' }], 'events')
  },

  async 'tells when another tab deletes its database'({ name, store, events }) {
    await store.commit(head('one'))
    await deleteDatabase(name)
    equal(await store.get([HEAD]), [undefined], 'the row')
    equal(events, [{ kind: 'reset' }], 'events')
  },

  async 'does a transaction once more that died before it was sent'({ store, tap }) {
    const revision = await store.commit(head('one'))
    const tries = tap.onWrite((tx, count) => count === 1 && queueMicrotask(() => tx.abort()))
    const next = await store.commit({ checks: [{ key: HEAD, revision }], ...head('two') })
    equal(await store.get([HEAD]), [{ key: HEAD, value: 'two', revision: next }], 'the row')
    equal(tries.count, 2, 'transactions')
  },

  async 'gives up a transaction that dies twice, and works on'({ store, tap }) {
    const revision = await store.commit(head('one'))
    const tries = tap.onWrite((tx) => queueMicrotask(() => tx.abort()))
    const next = { checks: [{ key: HEAD, revision }], ...head('two') }
    equal(await refusedWith(store.commit(next)), 'AbortError', 'the commit')
    equal(tries.count, 2, 'transactions')
    tap.onWrite(() => {})
    equal(await retold(store, HEAD), 'one', 'the row')
    equal((await store.commit(next)) === undefined, false, 'the same commit later')
  },

  async 'rejects a commit that may have landed, and does not repeat it'({ store, tap }) {
    const revision = await store.commit(head('one'))
    const tries = tap.onWrite((tx) =>
      tx.addEventListener('complete', (event) => {
        event.stopImmediatePropagation()
        tap.tell(tx, 'abort')
      }),
    )
    for (const checks of [[{ key: HEAD, revision }], []]) {
      equal(await refusedWith(store.commit({ checks, ...head('two') })), 'Error', 'the commit')
    }
    equal(tries.count, 2, 'transactions of two commits')
    tap.onWrite(() => {})
    equal(await retold(store, HEAD), 'two', 'the row: it did land')
  },

  async 'keeps old rows and writes nothing of a batch when it is full'({ store, tap, events }) {
    const rows = [HEAD, 't/1', 't/2']
    await store.commit({ puts: rows.slice(0, 2).map((key) => ({ key, value: 'old' })) })
    tap.onWrite((tx) => {
      Object.defineProperty(tx, 'error', { value: new DOMException('full', 'QuotaExceededError') })
      tx.commit = () => tx.abort()
    })
    const batch = { puts: rows.map((key) => ({ key, value: 'new' })), deletes: ['t/1'] }
    equal(await refusedWith(store.commit(batch)), 'storage_quota', 'the commit')
    equal(events, [{ kind: 'quota', freed: 0 }], 'events')
    tap.onWrite(() => {})
    const kept = await Promise.all(rows.map((key) => retold(store, key)))
    equal(kept, ['old', 'old', undefined], 'rows')
    await store.commit(head('small'))
    equal(await retold(store, HEAD), 'small', 'a row written later')
  },

  async 'writes nothing of a batch when one of its rows fails'({ store, tap }) {
    const revision = await store.commit(head('old'))
    tap.onWrite((tx) => {
      const rows = tx.objectStore('rows')
      const put = rows.put.bind(rows)
      // There is such a row, so that adding it fails, later.
      rows.put = (value, key) => (key === 't/2' ? rows.add(value, HEAD) : put(value, key))
    })
    const puts = [HEAD, 't/1', 't/2', 't/3'].map((key) => ({ key, value: 'new' }))
    for (const checks of [[{ key: HEAD, revision }], []]) {
      equal(await refusedWith(store.commit({ checks, puts })), 'ConstraintError', 'the commit')
      const rows = await store.list({ prefix: '', limit: 9 })
      equal(rows, [{ key: HEAD, value: 'old', revision }], 'rows')
    }
  },

  async 'writes nothing of a batch that it cannot store'({ store }) {
    const revision = await store.commit(head('one'))
    const wrong = { key: 't/2', value: (() => {}) as unknown as string }
    for (const checks of [[{ key: HEAD, revision }], []]) {
      const batch = { checks, puts: [{ key: 't/1', value: 'x' }, wrong], deletes: [HEAD] }
      equal(await refusedWith(store.commit(batch)), 'DataCloneError', 'the commit')
    }
    equal(
      await store.list({ prefix: '', limit: 9 }),
      [{ key: HEAD, value: 'one', revision }],
      'rows',
    )
  },

  async 'flushes to disk what is marked durable, or as the option says'({ name, tap }) {
    const asked = async (durability?: 'strict' | 'relaxed'): Promise<readonly unknown[]> => {
      const store = indexedDb({ name, factory: tap.factory, ...(durability && { durability }) })
      const before = tap.durabilities.length
      await store.commit(head('one'))
      await store.commit({ ...head('two'), durable: true })
      await store.clear('t/')
      await store.close?.()
      return tap.durabilities.slice(before)
    }
    equal(await asked(), ['relaxed', 'strict', 'relaxed'], 'without the option')
    equal(await asked('strict'), ['strict', 'strict', 'strict'], 'with "strict"')
    equal(await asked('relaxed'), ['relaxed', 'relaxed', 'relaxed'], 'with "relaxed"')
  },

  async 'lets one of fifty commits of two tabs win'({ name, store }) {
    const other = indexedDb({ name })
    let revision: string | undefined
    for (const round of [1, 2, 3]) {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          (n % 2 ? other : store).commit({
            checks: [{ key: HEAD, revision }],
            puts: [
              { key: HEAD, value: `${n}` },
              { key: `t/${round}.${n}`, value: '' },
            ],
          }),
        ),
      )
      const winner = outcomes.findIndex((outcome) => outcome !== undefined)
      equal(outcomes.filter(Boolean).length, 1, `winners of round ${round}`)
      revision = outcomes[winner]
      equal(await other.get([HEAD]), [{ key: HEAD, value: `${winner}`, revision }], 'the row')
      equal(
        (await store.list({ prefix: `t/${round}.`, limit: 50 })).length,
        1,
        'rows of the winner and nobody else',
      )
    }
    await other.close?.()
  },

  async 'never gives a revision again, also not after a reload'({ name, store }) {
    const seen = new Set<string | undefined>()
    const first = await store.commit(head('same'))
    await store.close?.()
    for (let page = 0; page < 20; page++) {
      const reloaded = indexedDb({ name })
      for (let n = 0; n < 3; n++) seen.add(await reloaded.commit(head('same')))
      await reloaded.commit({ deletes: [HEAD] })
      seen.add(await reloaded.commit(head('same')))
      equal(
        await reloaded.commit({ checks: [{ key: HEAD, revision: first }] }),
        undefined,
        'a check of an old revision',
      )
      await reloaded.close?.()
    }
    equal(seen.size, 80, 'different revisions of eighty commits')
  },

  async 'lets go of the database when it is closed while it opens'({ name, store, tap }) {
    const racing = store.get([HEAD]).then(
      () => 'read',
      (error: { code: string }) => error.code,
    )
    await store.close?.()
    equal(['read', 'storage_closed'].includes(await racing), true, 'a call on its way')
    equal(await refusedWith(store.get([HEAD])), 'storage_closed', 'a call after that')
    await tap.settled()
    const onConnection = async () => tap.connections[0]!.transaction('rows')
    equal(await refusedWith(onConnection), 'InvalidStateError', 'a transaction on the connection')
    equal(
      [tap.opened, await deleteDatabase(name)],
      [1, undefined],
      'databases opened; a delete by another tab',
    )
  },

  async 'closes before it ever opened'({ store, tap }) {
    await store.close?.()
    equal(await refusedWith(store.commit(head('x'))), 'storage_closed', 'a commit')
    equal(tap.opened, 0, 'databases opened')
  },

  async 'lists without a limit'({ store }) {
    await store.commit({ puts: [1, 2, 3].map((n) => ({ key: `t/${n}`, value: '' })) })
    for (const limit of [Infinity, 2 ** 32, 2 ** 53]) {
      equal((await store.list({ prefix: 't/', limit })).length, 3, `rows with the limit ${limit}`)
    }
    equal((await store.list({ prefix: 't/', limit: -1 })).length, 0, 'rows with the limit -1')
  },

  async 'takes a batch of many rows and of many bytes'({ store, tap }) {
    const puts = Array.from({ length: 5000 }, (_, n) => ({
      key: `t/${n}`,
      value: 'x'.repeat(2000),
    }))
    await store.commit({ puts, durable: true })
    equal((await store.list({ prefix: 't/', limit: 9999 })).length, 5000, 'rows')
    const writes = tap.onWrite(() => {})
    await store.clear('t/')
    equal(await store.list({ prefix: '', limit: 1 }), [], 'rows after a clear')
    equal(writes.count, 1, 'transactions of the clear')
  },
}

/** All that the IndexedDB store promises, the contract of every store included. */
export const suite: readonly Case[] = [
  ...contract.map(({ name, run }) => ({ name: `keeps the contract: ${name}`, run })),
  ...Object.entries(cases).map(([name, check]) => ({ name, run: () => onBench(check) })),
]

async function onBench(check: (bench: Bench) => Promise<void>): Promise<void> {
  const name = freshName()
  const tap = tapped()
  const events: IndexedDbEvent[] = []
  const options: IndexedDbOptions = {
    name,
    factory: tap.factory,
    onEvent: (event) => events.push(event),
  }
  const store = indexedDb(options)
  const unhandled: unknown[] = []
  const note = (event: Event): void =>
    void unhandled.push((event as PromiseRejectionEvent).reason ?? event)
  globalThis.addEventListener?.('unhandledrejection', note)
  globalThis.addEventListener?.('error', note)
  try {
    await check({ name, store, tap, events })
    // Rejections that nobody handles are told a task later.
    await new Promise((resolve) => setTimeout(resolve, 20))
    equal(unhandled.map(String), [], 'errors that nobody handled')
  } finally {
    globalThis.removeEventListener?.('unhandledrejection', note)
    globalThis.removeEventListener?.('error', note)
    await store.close?.()
    for (const connection of tap.connections) connection.close()
    await deleteDatabase(name)
  }
}
