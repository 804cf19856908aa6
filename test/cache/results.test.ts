// What stands around a cache: envelopes, results, and who waits for whom.
import { envelope, memory, storeCache, ToolResultCache, type CachePort, type Logger } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { follow, lead, type Flights } from '../../src/cache/flight.ts'
import { cacheOn } from '../../src/cache/store-cache.ts'
import { countedSignal } from '../behaviours/books.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

describe('what makes no sense is refused', () => {
  it.each([
    [undefined, {}, 'store is not an object with the methods get, list, commit, clear'],
    [{ get() {} }, {}, 'store is not an object with the methods get, list, commit, clear'],
    [memory(), { ttl: 5 }, '"ttl" is not known here'],
    [memory(), { prefix: 1 }, 'prefix is not a string'],
    [memory(), { clock: {} }, 'clock is not an object with the methods now'],
  ])('storeCache(%o, %o)', (store, options, why) => {
    const make = () => storeCache(store as never, options as never)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(`Cannot make a cache on a store: ${why}`)
  })

  it('a misspelt option of a ToolResultCache', () => {
    const make = () => new ToolResultCache(storeCache(memory()), { prefix: 'a' } as never)
    expect(make).toThrow(new TypeError('Cannot make a ToolResultCache: "prefix" is not known here'))
  })
})

describe('an envelope', () => {
  it('is the text of the table, with the time it was stored', () => {
    const at = new Date('2026-03-01T08:00:00Z')
    expect(envelope.encode('tool', { a: [1] }, at)).toBe(
      '{"v":1,"kind":"tool","stored_at":"2026-03-01T08:00:00.000Z","payload":[{"a":[1]}]}',
    )
    expect(envelope.decode(envelope.encode('llm', undefined, at), 'llm')).toEqual({
      value: undefined,
      storedAt: '2026-03-01T08:00:00.000Z',
    })
  })

  it('has the time of the clock of its cache', async () => {
    const clock = manualClock()
    const cache = storeCache(memory(), { clock })
    await new ToolResultCache(cache, { clock }).set('k', 1)
    expect(await new ToolResultCache(cache).get('k')).toEqual({
      value: 1,
      storedAt: '2026-03-01T08:00:00.000Z',
    })
  })

  it('refuses what can not be stored', () => {
    expect(() => envelope.encode('tool', () => 1)).toThrow(/its type is "function"/)
  })
})

describe('the results of tools', () => {
  it('never throw, whatever the cache does, and say so at warning', async () => {
    const broken: readonly CachePort[] = [
      {
        get: () => Promise.reject(new Error('no')),
        set: () => Promise.reject(new Error('no')),
        delete: () => Promise.reject(new Error('no')),
      },
      {
        get() {
          throw new Error('no')
        },
        set() {
          throw new Error('no')
        },
        delete: async () => {},
      },
    ]
    for (const port of broken) {
      const { logger, logged } = book()
      const results = new ToolResultCache(port, { logger })
      expect(await results.get('k')).toBeUndefined()
      await results.set('k', 1)
      expect(logged).toEqual([
        ['warn', { key: 'k', error: new Error('no') }],
        ['warn', { key: 'k', error: new Error('no') }],
      ])
    }
  })

  it('are misses where the port gives no text', async () => {
    for (const odd of [null, 7, {}]) {
      const port = { get: async () => odd as never, set: async () => {}, delete: async () => {} }
      expect(await new ToolResultCache(port).get('k')).toBeUndefined()
    }
  })

  it('that can not be stored are told at warning, and the logger may throw too', async () => {
    const { logger, logged } = book()
    const cache = storeCache(memory())
    await new ToolResultCache(cache, { logger }).set('k', () => 1)
    expect(logged).toEqual([
      ['warn', { key: 'k', error: expect.objectContaining({ code: 'unserializable_value' }) }],
    ])
    const warn = (): never => {
      throw new Error('no log')
    }
    await new ToolResultCache(cache, { logger: { ...logger, warn } }).set('k', () => 1)
    expect(await cache.get('k')).toBeUndefined()
  })

  it('have a time to live', async () => {
    const clock = manualClock()
    const results = new ToolResultCache(storeCache(memory(), { clock }), { clock })
    await results.set('k', null, { ttl: 5 })
    expect(await results.get('k')).toMatchObject({ value: null })
    await clock.advance(5)
    expect(await results.get('k')).toBeUndefined()
  })
})

describe('a cache on a store', () => {
  it.each([0, -1, Number.NaN])('refuses a time to live of %s', async (ttl) => {
    const store = withFaults(memory())
    await expect(storeCache(store).set('k', 'text', { ttl })).rejects.toThrow(RangeError)
    expect(store.log).toEqual([])
  })

  it('takes a time without an end', async () => {
    const cache = storeCache(memory())
    await cache.set('k', 'text', { ttl: Infinity })
    expect(await cache.get('k')).toBe('text')
  })

  it('gives nobody what another key has put into its row', async () => {
    const store = memory()
    const cache = cacheOn(store)
    await cache.set('mine', 'my text')
    await cache.set('theirs', 'their text')
    const rows = await store.list({ prefix: 'c/', limit: 9 })
    const [mine] = rows.filter(({ value }) => value.includes('"mine"'))
    const [theirs] = rows.filter(({ value }) => value.includes('"theirs"'))
    await store.commit({ puts: [{ key: mine!.key, value: theirs!.value }] })
    expect(await cache.get('mine')).toBeUndefined()
  })

  it('tells the store when an entry ends, through every layer', async () => {
    const expires: unknown[] = []
    const under = memory()
    const store = {
      ...under,
      caps: { ...under.caps, maxValueBytes: 2000 },
      commit: (batch: Parameters<typeof under.commit>[0]) => {
        for (const put of batch.puts ?? []) expires.push(put.expires)
        return under.commit(batch)
      },
    }
    const clock = manualClock()
    const cache = storeCache(store, { clock })
    await cache.set('k', 'x'.repeat(3000), { ttl: 10 })
    await cache.set('k', 'text')
    const end = clock.now() + 10
    expect(expires).toEqual([end, end, end, undefined])
  })
})

describe('who does the same at one time', () => {
  it('gets what comes of it, a miss when it comes to nothing, and nothing is left', async () => {
    const flights: Flights = new Map()
    for (const landed of [true, false]) {
      const first = lead(flights, 'k')!
      expect(lead(flights, 'k')).toBeUndefined()
      const waiting = [follow(flights, 'k'), follow(flights, 'k')]
      if (landed) first.land(null)
      first.end()
      first.end()
      const found = landed ? { cell: null } : undefined
      expect(await Promise.all(waiting)).toEqual([found, found])
      expect(flights.size).toBe(0)
    }
    expect(await follow(flights, 'k')).toBeUndefined()
  })

  it('finds what has landed until it is over', async () => {
    const flights: Flights = new Map()
    const first = lead(flights, 'k')!
    first.land('made')
    expect(await follow(flights, 'k')).toEqual({ cell: 'made' })
    first.end()
    const second = lead(flights, 'k')!
    first.end()
    expect(flights.size).toBe(1)
    second.end()
  })

  it('leaves alone by its signal, and listens no longer than it waits', async () => {
    const flights: Flights = new Map()
    const first = lead(flights, 'k')!
    const stays = countedSignal()
    const leaves = countedSignal()
    const staying = follow(flights, 'k', stays.signal)
    const leaving = follow(flights, 'k', leaves.signal)
    leaves.abort('enough')
    await expect(leaving).rejects.toBe('enough')
    await expect(follow(flights, 'k', leaves.signal)).rejects.toBe('enough')
    first.land('made')
    expect(await staying).toEqual({ cell: 'made' })
    expect([stays.listeners(), leaves.listeners()]).toEqual([0, 0])
    first.end()
  })
})

function book(): { readonly logger: Logger; readonly logged: unknown[] } {
  const logged: unknown[] = []
  const note =
    (level: string) =>
    (_: string, data = {}): void =>
      void logged.push([level, data])
  return { logger: { debug: note('debug'), warn: note('warn'), error: note('error') }, logged }
}
