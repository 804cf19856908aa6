import { field, graph, type Graph, type Store } from 'heddle'
import { equal } from './portable.ts'

/** Ids that separators, encodings, normal forms, paths, prototypes and limits could confuse. */
export const ODD: readonly string[] = [
  ...[
    'a',
    'a:b',
    'a/b',
    'a%3Ab',
    'a:',
    'ab',
    'a\u0000b',
    'a~003ab',
    'a.b',
    '~e',
    '~',
    '-',
    '*',
    '%',
  ],
  ...[
    '\u00e9',
    'e\u0301',
    '😀',
    '\ud83d',
    '\ude00',
    '\ude00\ud83d',
    '__proto__',
    'constructor',
    '..',
    '.',
    '',
    ' a ',
  ],
  ...['A', 'a\n', 'x'.repeat(44), 'x'.repeat(45), 'x'.repeat(5000), `${'x'.repeat(4999)}y`],
]

/** Asks who it is. */
export const counter = (name: string): Graph =>
  graph({
    name,
    state: { id: field(-1) },
    nodes: { n: async (_, ctx) => void (await ctx.interrupt(ctx.thread)) },
    edges: { start: 'n', n: 'end' },
  })

/** Sees every key that is written or asked for. */
export function watched(store: Store, keys: Set<string>): Store {
  const see = (key: string): void => void keys.add(key)
  return {
    name: store.name,
    caps: store.caps,
    async get(asked) {
      asked.forEach(see)
      return store.get(asked)
    },
    async list(range) {
      see(range.prefix)
      return store.list(range)
    },
    async commit(batch) {
      for (const { key } of [...(batch.checks ?? []), ...(batch.puts ?? [])]) see(key)
      batch.deletes?.forEach(see)
      return store.commit(batch)
    },
    async clear(prefix) {
      see(prefix)
      return store.clear(prefix)
    },
  }
}

/** Holds a key to what every store can take. */
export function checkKey(key: string): void {
  equal(
    /^[\x21-\x7e]{3,256}$/.test(key),
    true,
    `key ${JSON.stringify(key)} is printable ASCII, at most 256 bytes`,
  )
}
