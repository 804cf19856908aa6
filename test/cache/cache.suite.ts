// B37: nothing but what was stored whole is a hit, on every store of the place we run in.
import {
  compile,
  envelope,
  field,
  graph,
  storeCache,
  ToolResultCache,
  type CachePort,
  type Clock,
  type Logger,
  type Store,
} from 'heddle'
import { all, casesOf, equal, rowsOf, type Case, type Open } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'

const DAY = 86_400_000

/** What comes back as it was stored, made anew at each call. */
const values: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  false: () => false,
  'an empty text': () => '',
  text: () => 'a\u0000b\ud83d"\n',
  'minus zero': () => -0,
  'a tree': () => ({ b: [1, { a: undefined }], a: null }),
  'what JSON lacks': () => [new Date(5), new Map([['k', new Set([1n])]]), Uint8Array.of(1, 2)],
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('cache', open, {
    async 'gives back what was stored, also after a restart, to each a copy of its own'(reopen) {
      for (const [name, make] of Object.entries(values)) {
        await resultsOn(await reopen()).set(name, make())
        const results = resultsOn(await reopen())
        const [first, second] = [await results.get(name), await results.get(name)]
        equal([first?.value, second?.value], [make(), make()], name)
        const shared = typeof first!.value === 'object' && first!.value !== null
        equal(first!.value !== second!.value, shared, `${name} is copied`)
      }
      equal(await resultsOn(await reopen()).get('another'), undefined, 'a key that was never set')
    },

    async 'keeps what was set last, until it is deleted'(reopen) {
      const cache = storeCache(await reopen())
      await cache.set('k', 'one')
      await cache.set('k', 'two')
      equal(await cache.get('k'), 'two', 'what was set last')
      await cache.delete('k')
      await cache.delete('never')
      equal(await cache.get('k'), undefined, 'what was deleted')
      await cache.set('k', 'three')
      equal(await storeCache(await reopen()).get('k'), 'three', 'what was set again')
    },

    async 'forgets an entry whose time is over, and removes it'(reopen) {
      const store = await reopen()
      const { clock, pass } = handClock()
      const cache = storeCache(store, { clock })
      await cache.set('day', 'a day', { ttl: DAY })
      await cache.set('ever', 'no end')
      pass(DAY - 1)
      equal(await cache.get('day'), 'a day', 'before its end')
      pass(1)
      equal(await cache.get('day'), undefined, 'at its end')
      equal((await rowsOf(store, ['c/'])).size, 1, 'rows that are left')
      pass(10_000 * DAY)
      equal(await cache.get('ever'), 'no end', 'without an end')
      await cache.set('day', 'again', { ttl: DAY })
      equal(await cache.get('day'), 'again', 'set anew')
    },

    async 'takes any text as a key and as a value, and keeps prefixes apart'(reopen) {
      const store = await reopen()
      const keys = [
        '',
        ' ',
        '/',
        'a/b',
        'é',
        'e\u0301',
        '\ud83d',
        '\n',
        `${'k'.repeat(3000)}`,
        'c/',
      ]
      const caches: readonly CachePort[] = [
        storeCache(store),
        storeCache(store, { prefix: '' }),
        storeCache(store, { prefix: 'heddle/x' }),
      ]
      const text = (key: string, at: number): string =>
        `${at}:${JSON.stringify(key.slice(0, 5))}\n{"v":1}`
      for (const [at, cache] of caches.entries())
        for (const key of keys) await cache.set(key, text(key, at))
      for (const [at, cache] of caches.entries())
        for (const key of keys) equal(await cache.get(key), text(key, at), JSON.stringify(key))
    },

    async 'holds what is longer than a row, and leaves no piece of it when it is removed'(reopen) {
      const store = await reopen()
      const { maxValueBytes } = store.caps
      const length = Math.min(maxValueBytes * 2 + 100, 200_000)
      const long = '+é"\\'.repeat(Math.ceil(length / 5))
      const cache = storeCache(store)
      await cache.set('k', long)
      equal((await storeCache(await reopen()).get('k')) === long, true, 'a long text')
      await cache.delete('k')
      equal((await rowsOf(await reopen(), ['c/'])).size, 0, 'rows that are left')
    },

    async 'takes what is broken, foreign or of another version for a miss, and writes over it'(
      reopen,
    ) {
      const store = await reopen()
      const at = '2026-01-01T00:00:00.000Z'
      const bad = [
        '',
        '{',
        'null',
        '7',
        '[]',
        '{"v":2,"kind":"tool","stored_at":"2026-01-01T00:00:00.000Z","payload":1}',
        envelope.encode('llm', 1, new Date(at)),
        envelope.encode('node', 1, new Date(at)),
        '{"v":1,"kind":"tool","stored_at":"2026-01-01T00:00:00.000Z"}',
        '{"v":1,"kind":"tool","stored_at":"yesterday","payload":1}',
        '{"v":1,"kind":"tool","payload":1}',
        '{"v":1,"kind":"tool","stored_at":"2026-01-01T00:00:00.000Z","payload":[0,[["Gadget"]]]}',
        '{"v":1,"kind":"tool","stored_at":"2026-01-01T00:00:00.000Z","payload":{"value":1}}',
      ]
      const results = resultsOn(store)
      for (const text of bad) {
        await storeCache(store).set('k', text)
        equal(await results.get('k'), undefined, text)
        await results.set('k', 'good')
        equal((await results.get('k'))?.value, 'good', `after ${text}`)
      }
    },

    async 'reads no row that was changed or put under another key'(reopen) {
      const store = await reopen()
      const { logger, warned } = book()
      const results = new ToolResultCache(storeCache(store), { logger })
      await results.set('k', 'good')
      const [[row, text] = ['', '']] = await rowsOf(store, ['c/'])
      await store.commit({ puts: [{ key: row, value: text.replace('good', 'evil') }] })
      equal(await results.get('k'), undefined, 'a changed row')
      await results.set('other', 'bad')
      const other = [...(await rowsOf(store, ['c/']))].find(([key]) => key !== row)!
      await store.commit({ puts: [{ key: row, value: other[1] }] })
      equal(await results.get('k'), undefined, 'a moved row')
      await results.set('k', 'better')
      equal((await results.get('k'))?.value, 'better', 'set anew')
      equal(warned.length <= 2, true, 'warnings: what is encrypted says so, the rest is no error')
    },

    async 'is beside threads, which it leaves alone, as they leave it'(reopen) {
      let entered = 0
      const counted = graph({
        name: 'counted',
        state: { n: field(0) },
        nodes: {
          count: { run: () => ({ n: ++entered }), cache: { scope: 'global', key: () => 'one' } },
        },
        edges: { start: 'count', count: 'end' },
      })
      for (const thread of ['a', 'b']) {
        const app = compile(counted, { store: await reopen(), logger: silent })
        equal((await app.run({ thread, input: {} })).state, { n: 1 }, thread)
      }
      equal(entered, 1, 'entries of the node')
      const app = compile(counted, { store: await reopen(), logger: silent })
      const threads = (await all(app.threads())).map(({ id }) => id)
      equal(threads.toSorted(), ['a', 'b'], 'threads')
      await app.delete('a')
      await app.delete('b')
      const rows = await rowsOf(await reopen(), ['h/', 't/', 'd/', 'o/', 'n/', 'c/'])
      equal(
        [...rows.keys()].map((key) => key.split('/', 2).join('/')),
        ['c/heddle'],
        'rows left',
      )
    },
  })
}

const resultsOn = (store: Store): ToolResultCache =>
  new ToolResultCache(storeCache(store), { logger: silent })

/** A clock that is moved by hand, from the platform's time on: stores drop what is over by that. */
function handClock(): { readonly clock: Clock; pass(ms: number): void } {
  let now = Date.now()
  return {
    clock: { now: () => now, after: () => () => {} },
    pass: (ms) => void (now += ms),
  }
}

function book(): { readonly logger: Logger; readonly warned: readonly string[] } {
  const warned: string[] = []
  const note = (message: string): void => void warned.push(message)
  return { logger: { debug: note, warn: note, error: note }, warned }
}
