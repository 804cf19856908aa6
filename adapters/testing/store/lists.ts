import type { Store } from '../../../src/index.ts'
import { fill, keysUnder, pages, puts, row, same, values, write } from './rows.ts'

/** `list` ascends by code unit; pages neither lose nor double a row. */
export async function listsInOrder(store: Store): Promise<void> {
  const prefix = row('e/')
  const letters = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n)).filter(
    (letter) => letter !== '/',
  )
  const long = letters.map((letter) =>
    (prefix + letter + letters.join('') + 'x'.repeat(256)).slice(0, 256),
  )
  const names = letters.flatMap((letter) => [
    `a${letter}`,
    `a${letter}a`,
    `A${letter}`,
    `b/${letter}`,
  ])
  const keys = [...long, ...[...names, '10', '2', 'a', 'a/a', '~00e9'].map((name) => prefix + name)]
  await fill(
    store,
    keys.toSorted((a, b) => hash(a) - hash(b)),
  )
  const sorted = keys.toSorted()
  same(
    await values(store, keys),
    keys.map((key) => `value of ${key}`),
    'get of long and of odd keys',
  )
  same(await keysUnder(store, prefix), sorted, 'list: order by code unit')
  for (const limit of [1, 7, sorted.length - 1, sorted.length]) {
    if (limit > 1) same(await pages(store, prefix, limit), sorted, `list in pages of ${limit}`)
    same(await keysUnder(store, prefix, limit), sorted.slice(0, limit), `list: the first ${limit}`)
  }

  same(await keysUnder(store, prefix, 0), [], 'list with limit 0')
  same(await keysUnder(store, prefix, 0, sorted[3]), [], 'list with limit 0 after a row')
  same(
    await keysUnder(store, prefix, 2, sorted[4]),
    sorted.slice(5, 7),
    'list: `after` is left out itself',
  )
  same(
    await keysUnder(store, prefix, 1, `${sorted[4]}!`),
    sorted.filter((key) => key > `${sorted[4]}!`).slice(0, 1),
    'list after a key that has no row',
  )
  same(
    await keysUnder(store, prefix, 2, row('d/9')),
    sorted.slice(0, 2),
    'list after a key that comes before the prefix',
  )
  same(
    await keysUnder(store, prefix, 2, prefix),
    sorted.slice(0, 2),
    'list after the prefix itself',
  )
  same(await keysUnder(store, prefix, 2, sorted.at(-1)), [], 'list after the last row')
  same(
    await keysUnder(store, prefix, 2, row('f/')),
    [],
    'list after a key that comes behind the prefix',
  )

  // What changes behind the reader doesn't move the pages ahead.
  const change = (page: number): Promise<unknown> =>
    write(store, { puts: puts([`${prefix}  ${page}`]), deletes: [sorted[page * 9 - 1] as string] })
  same(
    await pages(store, prefix, 9, change),
    sorted,
    'list in pages while rows before `after` come and go',
  )
}

/** A prefix is exact: no neighbour that sorts close is listed. */
export async function keepsPrefixesApart(store: Store): Promise<void> {
  const inside = ['1', 'A', 'a', 'a/b', 'b/1', '~'].map((name) => row(`a/${name}`))
  const outside = [
    'a',
    'a-',
    'a-b/1',
    'a.b/1',
    'a0',
    'a0/1',
    'aa/1',
    'a~/1',
    'A/1',
    'b/1',
    '%/1',
    '_/1',
  ].map((name) => row(name))
  const others = [
    'acme.t',
    'acme.t1-x',
    'acme.t1.x',
    'acme.t10',
    'acme.t2',
    'Acme.t1',
    'acme_t1',
    'acme%t1',
  ].map((thread) => row('a/1', thread))
  const kinds = [
    'd/00000000001/acme.t1/lease',
    'd/00000000002/acme.t1/lease',
    'o/triage/acme.t1/int_1',
    'n/zzz/acme.t1',
    'h/acme.t1',
    'h/acme.t10',
  ]
  await fill(store, [...others, ...outside, ...kinds, ...inside])
  same(await keysUnder(store, row('a/')), inside, 'list under a prefix among neighbours')
  same(await keysUnder(store, row('a/b/')), [row('a/b/1')], 'list under a longer prefix')
  same(await keysUnder(store, row('a/bc/')), [], 'list under a prefix without rows')
  same(
    await keysUnder(store, row('%/')),
    [row('%/1')],
    'list under a prefix with a wildcard of SQL',
  )
  same(
    await keysUnder(store, row('_/')),
    [row('_/1')],
    'list under a prefix with a wildcard of SQL',
  )
  same(await keysUnder(store, row('')), [...inside, ...outside].toSorted(), 'list under one thread')
  for (const key of others)
    same(await keysUnder(store, `${key.slice(0, -3)}`), [key], `list under "${key.slice(0, -3)}"`)
  same(
    await keysUnder(store, 't/'),
    [...others, ...inside, ...outside].toSorted(),
    'list under every thread',
  )
  same(await keysUnder(store, 'd/'), kinds.slice(0, 2), 'list of one kind of rows')
  same(
    await keysUnder(store, 'd/00000000002/'),
    kinds.slice(1, 2),
    'list of one kind of rows, under a longer prefix',
  )
  same(await keysUnder(store, 'h/'), ['h/acme.t1', 'h/acme.t10'], 'list of heads')
  same(
    await pages(store, 't/', 5),
    [...others, ...inside, ...outside].toSorted(),
    'list under every thread, in pages',
  )
}

/** Shuffles in the same way each time. */
function hash(text: string): number {
  let sum = 7
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 65_521
  return sum
}
