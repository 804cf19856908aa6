import type { Entry, Store } from '../../../src/store/store.ts'
import type { BrokenStores } from './stores.ts'

export const revisions: BrokenStores<
  | 'lets one of fifty racing checks win'
  | 'never uses a revision twice, deletes included'
  | 'refuses a foreign revision without throwing'
> = {
  'lets one of fifty racing checks win': {
    'checks, then writes': (store) => ({
      async commit({ checks = [], ...batch }) {
        const rows = await store.get(checks.map((check) => check.key))
        return rows.every((row, n) => row?.revision === checks[n]!.revision)
          ? store.commit(batch)
          : undefined
      },
    }),
    'lets two claim a row that is not there': (store) => {
      let absent = 0
      return {
        commit: (batch) =>
          store.commit(
            batch.checks?.[0]?.revision === undefined && absent++ < 3
              ? { ...batch, checks: [] }
              : batch,
          ),
      }
    },
    'lets nobody win': (store) => ({
      commit: async (batch) => (batch.checks?.length ? undefined : store.commit(batch)),
    }),
    'rejects when it loses': (store) => ({
      commit: async (batch) => {
        const revision = await store.commit(batch)
        if (!revision) throw new Error('busy')
        return revision
      },
    }),
    'keeps what losers put': (store) => ({
      commit: async (batch) =>
        (await store.commit(batch)) ??
        (await store.commit({ puts: (batch.puts ?? []).slice(1) }), undefined),
    }),
    'deletes what losers meant to': (store) => ({
      commit: async (batch) =>
        (await store.commit(batch)) ??
        (await store.commit({ deletes: batch.deletes ?? [] }), undefined),
    }),
  },
  'never uses a revision twice, deletes included': {
    'counts per row, from 1 after a delete': (store) =>
      revisedBy(store, (_, before) => String(Number(before ?? 0) + 1)),
    'makes revisions of values': (store) => revisedBy(store, (value) => `of ${value}`),
    'makes revisions of a coarse clock': (store) =>
      revisedBy(store, () => String(Math.floor(Date.now() / 600_000))),
    'keeps the revision of a rewrite with the same value': (store) => ({
      async commit(batch) {
        const [put] = batch.puts ?? []
        const [now] = put ? await store.get([put.key]) : []
        return put && now?.value === put.value && batch.checks?.[0]?.revision === now.revision
          ? now.revision
          : store.commit(batch)
      },
    }),
  },
  'refuses a foreign revision without throwing': {
    'throws at what it cannot parse': (store) => ({
      commit: async (batch) => {
        for (const { revision } of batch.checks ?? [])
          if (revision !== undefined && !/^\d+$/.test(revision))
            throw new TypeError('Invalid check')
        return store.commit(batch)
      },
    }),
    'takes an empty revision for no check': (store) => ({
      commit: ({ checks = [], ...batch }) =>
        store.commit({ ...batch, checks: checks.filter((check) => check.revision !== '') }),
    }),
    'takes an empty revision for no row': (store) => ({
      commit: ({ checks = [], ...batch }) =>
        store.commit({
          ...batch,
          checks: checks.map(({ key, revision }) => ({ key, revision: revision || undefined })),
        }),
    }),
    'compares revisions as numbers': (store) => ({
      commit: ({ checks = [], ...batch }) =>
        store.commit({
          ...batch,
          checks: checks.map(({ key, revision }) => ({
            key,
            revision: revision && String(Number.parseInt(revision, 10)),
          })),
        }),
    }),
    'accepts the revision of another row': (store) => {
      const all = new Set<string | undefined>()
      return {
        async commit({ checks = [], ...batch }) {
          const revision = await store.commit({
            ...batch,
            checks: checks.filter((check) => !all.has(check.revision)),
          })
          all.add(revision)
          return revision
        },
      }
    },
  },
}

/** A store that makes its revisions by a rule of its own. */
function revisedBy(
  store: Store,
  revise: (value: string, before: string | undefined) => string,
): Partial<Store> {
  const current = new Map<string, string>()
  const shown = (entry: Entry): Entry => ({ ...entry, revision: current.get(entry.key) ?? '' })
  return {
    get: async (keys) => (await store.get(keys)).map((entry) => entry && shown(entry)),
    list: async (range) => (await store.list(range)).map(shown),
    async commit({ checks = [], puts = [], deletes = [] }) {
      if (checks.some(({ key, revision }) => current.get(key) !== revision)) return undefined
      for (const { key, value } of puts) current.set(key, revise(value, current.get(key)))
      for (const key of deletes) current.delete(key)
      await store.commit({ puts, deletes })
      return current.get(puts[0]?.key ?? '') ?? 'none'
    },
  }
}
