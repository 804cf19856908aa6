import type { Entry, Store } from '../../../src/store/store.ts'
import type { BrokenStores } from './stores.ts'

export const lists: BrokenStores<
  'lists in key order, page by page' | 'keeps a prefix apart from its neighbours'
> = {
  'lists in key order, page by page': {
    'sorts as people do': (store) => ({
      list: (range) => listed(store, range, (a, b) => a.localeCompare(b)),
    }),
    'sorts without case': (store) => ({
      list: (range) => listed(store, range, (a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
    }),
    'keeps the order of arrival': (store) => ({ list: (range) => listed(store, range, () => 0) }),
    'includes `after`': (store) => ({
      list: async (range) =>
        [
          ...(range.after ? await store.get([range.after]) : []).filter(
            (entry) => entry !== undefined,
          ),
          ...(await store.list(range)),
        ].slice(0, range.limit),
    }),
    'skips one more than `after`': (store) => ({
      list: async (range) =>
        (await store.list({ ...range, limit: range.limit + 1 }))
          .slice(range.after ? 1 : 0)
          .slice(0, range.limit),
    }),
    'takes limit 0 for no limit': (store) => ({
      list: (range) => store.list({ ...range, limit: range.limit || Infinity }),
    }),
    'gives one more than the limit': (store) => ({
      list: (range) => store.list({ ...range, limit: range.limit && range.limit + 1 }),
    }),
    'gives a hundred rows at most': (store) => ({
      list: (range) => store.list({ ...range, limit: Math.min(range.limit, 100) }),
    }),
    'starts over when `after` has no row': (store) => ({
      list: async ({ after, ...range }) =>
        store.list(after && (await store.get([after]))[0] ? { ...range, after } : range),
    }),
    'counts pages': (store) => {
      const ends = new Map<string | undefined, number>()
      return {
        async list({ after, ...range }) {
          const from = (after && ends.get(after)) || 0
          const all = (await store.list({ ...range, limit: Infinity })).slice(
            from,
            from + range.limit,
          )
          ends.set(all.at(-1)?.key, from + all.length)
          return all
        },
      }
    },
    'takes `after` for the start, also before the prefix': (store) => ({
      list: async ({ after, ...range }) =>
        after && !after.startsWith(range.prefix)
          ? []
          : store.list(after ? { ...range, after } : range),
    }),
    'cuts keys at 255 bytes': (store) => ({
      commit: ({ puts = [], ...batch }) =>
        store.commit({
          ...batch,
          puts: puts.map((put) => ({ ...put, key: put.key.slice(0, 255) })),
        }),
    }),
    'encodes keys as URLs do': (store) => ({
      list: async (range) =>
        (await store.list(range)).map((entry) => ({ ...entry, key: encodeURI(entry.key) })),
    }),
  },
  'keeps a prefix apart from its neighbours': {
    'forgets the slash': (store) => ({
      list: (range) => matching(store, range, (key) => key.startsWith(range.prefix.slice(0, -1))),
    }),
    'knows wildcards of SQL': (store) => ({
      list: (range) =>
        matching(store, range, (key) =>
          new RegExp(
            `^${range.prefix.replace(/[.]/g, '\\.').replaceAll('%', '.*').replaceAll('_', '.')}`,
          ).test(key),
        ),
    }),
    'ignores case': (store) => ({
      list: (range) =>
        matching(store, range, (key) => key.toLowerCase().startsWith(range.prefix.toLowerCase())),
    }),
    'ends the range one character late': (store) => ({
      list: (range) =>
        matching(
          store,
          range,
          (key) => key >= range.prefix && key < `${range.prefix.slice(0, -1)}1`,
        ),
    }),
    'looks one level deep': (store) => ({
      list: (range) =>
        matching(
          store,
          range,
          (key) => key.startsWith(range.prefix) && !key.slice(range.prefix.length).includes('/'),
        ),
    }),
    'lists one thread at a time': (store) => ({
      list: async (range) => (range.prefix === 't/' ? [] : store.list(range)),
    }),
    'takes a dot for a separator': (store) => ({
      list: (range) =>
        matching(
          store,
          range,
          (key) =>
            key.replaceAll('.', '/').startsWith(range.prefix.replaceAll('.', '/')) ||
            (range.prefix === 't/acme.t1/' && key.startsWith('t/acme.t1.')),
        ),
    }),
  },
}

async function listed(
  store: Store,
  range: Parameters<Store['list']>[0],
  order: (a: string, b: string) => number,
): Promise<readonly Entry[]> {
  const all = [...(await store.list({ prefix: range.prefix, limit: Infinity }))]
    .sort((a, b) => Number(a.revision) - Number(b.revision) || 0)
    .sort((a, b) => order(a.key, b.key))
  const from =
    range.after === undefined ? 0 : all.findIndex((entry) => entry.key === range.after) + 1
  return all.slice(from, from + range.limit)
}

async function matching(
  store: Store,
  { after, limit }: Parameters<Store['list']>[0],
  fits: (key: string) => boolean,
): Promise<readonly Entry[]> {
  const kinds = await Promise.all(
    ['d/', 'h/', 'n/', 'o/', 't/', 'T/'].map((prefix) => store.list({ prefix, limit: Infinity })),
  )
  return kinds
    .flat()
    .filter(({ key }) => fits(key) && (after === undefined || key > after))
    .slice(0, limit)
}
