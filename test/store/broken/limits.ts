import type { Batch, Entry } from '../../../src/store/store.ts'
import type { BrokenStores } from './stores.ts'
import { stored } from './reads.ts'

export const limits: BrokenStores<
  | 'holds values up to its limit and refuses longer ones'
  | 'clears a prefix whole'
  | 'refuses work after close'
> = {
  'holds values up to its limit and refuses longer ones': {
    'takes longer ones': (store) => ({ caps: { ...store.caps, maxValueBytes: 1000 } }),
    'counts characters': (store) => ({
      caps: { ...store.caps, maxValueBytes: 1000 },
      commit: async (batch) => {
        refuse(batch, (value) => value.length > 1000)
        return store.commit(batch)
      },
    }),
    'refuses short ones of many bytes': (store) => ({
      caps: { ...store.caps, maxValueBytes: 1000 },
      commit: async (batch) => {
        refuse(batch, (value) => value.length * 4 > 1000)
        return store.commit(batch)
      },
    }),
    'refuses after it has written the rest': (store) => ({
      caps: { ...store.caps, maxValueBytes: 1000 },
      commit: async (batch) => {
        await store.commit({ puts: (batch.puts ?? []).filter(({ value }) => bytes(value) <= 1000) })
        refuse(batch, (value) => bytes(value) > 1000)
        return store.commit(batch)
      },
    }),
    'refuses after it has deleted': (store) => ({
      caps: { ...store.caps, maxValueBytes: 1000 },
      commit: async (batch) => {
        await store.commit({ deletes: batch.deletes ?? [] })
        refuse(batch, (value) => bytes(value) > 1000)
        return store.commit(batch)
      },
    }),
    'says no instead of rejecting': (store) => ({
      caps: { ...store.caps, maxValueBytes: 1000 },
      commit: async (batch) =>
        batch.puts?.some(({ value }) => bytes(value) > 1000) ? undefined : store.commit(batch),
    }),
    'cuts them': (store) => stored(store, (value) => value.slice(0, 1_000_000)),
    'cuts long JSON': (store) =>
      stored(store, (value) =>
        JSON.stringify(value).length > 2_500_000 ? value.slice(0, 9) : value,
      ),
    'claims more than it has': (store) => ({
      commit: async (batch) => {
        refuse(batch, (value) => bytes(value) > 65_536)
        return store.commit(batch)
      },
    }),
    'is stuck after it refused': (store) => {
      let stuck = false
      return {
        caps: { ...store.caps, maxValueBytes: 1000 },
        commit: async (batch) => {
          stuck ||= batch.puts?.some(({ value }) => bytes(value) > 1000) ?? false
          if (stuck) throw new Error('transaction is aborted')
          return store.commit(batch)
        },
      }
    },
  },
  'clears a prefix whole': {
    'clears a thousand rows': (store) => ({
      clear: async (prefix) => {
        await store.commit({
          deletes: (await store.list({ prefix, limit: 1000 })).map((entry) => entry.key),
        })
      },
    }),
    'clears one level': (store) => ({
      clear: async (prefix) => {
        await store.commit({
          deletes: (await store.list({ prefix, limit: Infinity }))
            .map((entry) => entry.key)
            .filter((key) => !key.slice(prefix.length).includes('/')),
        })
      },
    }),
    'clears what begins alike': (store) => ({
      clear: async (prefix) => {
        for (const entry of await store.list({ prefix: 't/', limit: Infinity }))
          if (entry.key.startsWith(prefix.slice(0, -1)))
            await store.commit({ deletes: [entry.key] })
      },
    }),
    'clears the head too': (store) => ({
      clear: async (prefix) => {
        await store.clear(prefix)
        await store.commit({ deletes: [`h/${prefix.slice(2, -1)}`] })
      },
    }),
    'has nothing to clear twice': (store) => ({
      clear: async (prefix) => {
        if (!(await store.list({ prefix, limit: 1 })).length) throw new Error('not found')
        await store.clear(prefix)
      },
    }),
    'still gets what it cleared': (store) => {
      const all = new Map<string, Entry>()
      return {
        get: async (keys) => (await store.get(keys)).map((entry, n) => entry ?? all.get(keys[n]!)),
        commit: async (batch) => {
          const revision = await store.commit(batch)
          for (const put of batch.puts ?? []) all.set(put.key, { ...put, revision: revision ?? '' })
          return revision
        },
      }
    },
    'takes nothing more after a clear': (store) => {
      const cleared: string[] = []
      return {
        clear: async (prefix) => {
          cleared.push(prefix)
          await store.clear(prefix)
        },
        commit: ({ puts = [], ...batch }) =>
          store.commit({
            ...batch,
            puts: puts.filter(({ key }) => !cleared.some((prefix) => key.startsWith(prefix))),
          }),
      }
    },
  },
  'refuses work after close': {
    'goes on': () => ({ close: async () => undefined }),
    'closes once': (store) => {
      let closed = false
      return {
        close: async () => {
          if (closed) throw new Error('already closed')
          closed = true
          await store.close?.()
        },
      }
    },
    'still clears': () => ({ clear: async () => undefined }),
    'still reads what it knows': () => ({ list: async () => [] }),
    'rejects with any error': (store) => ({
      get: (keys) =>
        store.get(keys).catch(() => {
          throw new Error('InvalidStateError')
        }),
    }),
    'throws instead of rejecting': (store) => {
      let closed = false
      return {
        close: async () => {
          closed = true
          await store.close?.()
        },
        get: (keys) => {
          if (closed) throw new Error('closed')
          return store.get(keys)
        },
      }
    },
  },
}

function refuse({ puts = [] }: Batch, tooLong: (value: string) => boolean): void {
  if (puts.some(({ value }) => tooLong(value))) throw new RangeError('value is too long')
}

function bytes(value: string): number {
  return new TextEncoder().encode(value).length
}
