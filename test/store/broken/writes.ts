import type { BrokenStores } from './stores.ts'

export const writes: BrokenStores<'writes a batch whole or not at all'> = {
  'writes a batch whole or not at all': {
    'puts before it checks': (store) => ({
      commit: async (batch) => {
        const { checks, ...rest } = batch
        await store.commit({ puts: (rest.puts ?? []).slice(0, 1) })
        return store.commit(batch)
      },
    }),
    'deletes before it checks': (store) => ({
      commit: async (batch) => {
        await store.commit({ deletes: batch.deletes ?? [] })
        return store.commit(batch)
      },
    }),
    'looks at its first check only': (store) => ({
      commit: ({ checks = [], ...batch }) => store.commit({ ...batch, checks: checks.slice(0, 1) }),
    }),
    'looks at its last check only': (store) => ({
      commit: ({ checks = [], ...batch }) => store.commit({ ...batch, checks: checks.slice(-1) }),
    }),
    'takes no row for any row': (store) => ({
      commit: ({ checks = [], ...batch }) =>
        store.commit({ ...batch, checks: checks.filter((check) => check.revision !== undefined) }),
    }),
    'has no answer to an empty batch': (store) => ({
      commit: async (batch) =>
        batch.puts?.length || batch.deletes?.length ? store.commit(batch) : undefined,
    }),
    'does not look at the checks of an empty batch': (store) => ({
      commit: (batch) => store.commit(batch.puts?.length || batch.deletes?.length ? batch : {}),
    }),
    'drops what is over a hundred rows': (store) => ({
      commit: ({ puts = [], ...batch }) => store.commit({ ...batch, puts: puts.slice(0, 100) }),
    }),
    'refuses a row that it has, if it is no head': (store) => ({
      commit: async (batch) => {
        const keys = (batch.puts ?? []).map(({ key }) => key).filter((key) => !key.startsWith('h/'))
        if ((await store.get(keys)).some(Boolean)) throw new Error('the row is there already: busy')
        return store.commit(batch)
      },
    }),
    'writes what it checks': (store) => ({
      commit: async (batch) => {
        const [entry] = await store.get((batch.checks ?? []).slice(0, 1).map(({ key }) => key))
        const isPut = batch.puts?.some(({ key }) => key === entry?.key)
        const touched = entry && !isPut && !batch.deletes?.includes(entry.key) ? [entry] : []
        return store.commit({ ...batch, puts: [...(batch.puts ?? []), ...touched] })
      },
    }),
    'skips deletes beside puts': (store) => ({
      commit: (batch) => store.commit(batch.puts?.length ? { ...batch, deletes: [] } : batch),
    }),
  },
}
