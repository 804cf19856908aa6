import type { Store } from '../../../src/index.ts'
import { fill, keysUnder, must, putAll, puts, read, row, same, values, write } from './rows.ts'

/** `get` and `list` show what the last commit wrote, in the order asked. */
export async function readsOwnWrites(store: Store): Promise<void> {
  const head = 'h/acme.t1'
  const first = await write(store, {
    puts: [{ key: head, value: 'one' }, ...puts([row('c/-/1'), row('v/1')])],
  })
  same(await read(store, head), { key: head, value: 'one', revision: first }, 'get after a put')
  same(
    await values(store, [row('v/1'), row('c/-/1')]),
    puts([row('v/1'), row('c/-/1')]).map((put) => put.value),
    'get of two rows',
  )
  same(await keysUnder(store, row('')), [row('c/-/1'), row('v/1')], 'list after a put')

  const second = await write(store, {
    checks: [{ key: head, revision: first }],
    puts: [{ key: head, value: 'two' }],
    deletes: [row('v/1')],
  })
  same(
    await read(store, head),
    { key: head, value: 'two', revision: second },
    'get after a rewrite',
  )
  same(
    await store.list({ prefix: 'h/', limit: 9 }),
    [{ key: head, value: 'two', revision: second }],
    'list after a rewrite',
  )
  same(await read(store, row('v/1')), undefined, 'get after a delete')
  same(await keysUnder(store, row('')), [row('c/-/1')], 'list after a delete')
  await write(store, { puts: puts([row('v/1'), row('v/0')]) })
  same(
    await keysUnder(store, row('')),
    [row('c/-/1'), row('v/0'), row('v/1')],
    'list after a deleted row came back',
  )
  if (store.caps.atomic) {
    const third = await write(store, { puts: puts([row('e/1'), row('e/2')]) })
    const found = await store.list({ prefix: row('e/'), limit: 9 })
    same(
      found.map((entry) => entry.revision),
      [third, third],
      'revision of every row of one commit',
    )
    same(
      found.map((entry) => entry.value),
      puts([row('e/1'), row('e/2')]).map((put) => put.value),
      'values of a list',
    )
  }

  await getsInOrder(store)
  await takesExpiry(store)
}

async function getsInOrder(store: Store): Promise<void> {
  const keys = Array.from({ length: 130 }, (_, n) => row(`s/1/${(n * 37) % 130}`))
  await fill(store, keys)
  // Twice the same key, absent ones in between, more than a store may take in one request.
  const asked = keys.flatMap((key, n) => (n % 3 ? [key] : [key, `${key}.none`, key]))
  const expected = asked.map((key) => (key.endsWith('.none') ? undefined : key))
  same(
    (await store.get(asked)).map((entry) => entry?.key),
    expected,
    'get: keys in the order asked',
  )
  same(
    await values(store, asked),
    expected.map((key) => key && `value of ${key}`),
    'get: values in the order asked',
  )
  same(await store.get([]), [], 'get of no keys')
}

async function takesExpiry(store: Store): Promise<void> {
  const now = Date.now()
  const rows = [now - 60_000, now + 1000, now + 3_600_000].map((expires, n) => ({
    key: `c/run/${n}`,
    value: 'kept',
    expires,
  }))
  await write(store, { puts: rows })
  same(await values(store, ['c/run/2']), ['kept'], 'get of a row that expires in an hour')
  for (const value of await values(store, ['c/run/0', 'c/run/1'])) {
    must(
      value === undefined || value === 'kept',
      `get of an expired row: expected its value or nothing, got "${String(value)}"`,
    )
  }
}

/** No value can be taken for an absent row, and text comes back as it was. */
export async function tellsAbsent(store: Store): Promise<void> {
  const texts = [
    '',
    ' ',
    '0',
    'null',
    'undefined',
    'false',
    '{}',
    '[]',
    '-',
    '"',
    "'",
    '\\',
    '\\u0000',
    '%',
    '_',
    '\u0000',
    'a\u0000b',
    '\n',
    '\r\n',
    '\t',
    '\uFEFFx',
    '\u2028\u2029',
    'é',
    'e\u0301',
    '漢字',
    '😀',
    '👩‍👩‍👧',
    '\uFFFD',
    '\uFFFF',
    '\u{10FFFF}',
    '\u007F\u0080',
    "'; drop table heddle; --",
    JSON.stringify({ quotes: '"\'\\"', lone: '\uD800' }),
  ]
  const keys = texts.map((_, n) => row(`v/${n}`))
  await putAll(
    store,
    texts.map((value, n) => ({ key: keys[n] as string, value })),
  )
  const found = await values(store, keys)
  for (const [n, value] of texts.entries())
    same(found[n], value, `get of the text ${JSON.stringify(value)}`)
  const listed = new Map(
    (await store.list({ prefix: row('v/'), limit: 1000 })).map((entry) => [entry.key, entry.value]),
  )
  for (const [n, value] of texts.entries())
    same(listed.get(keys[n] as string), value, `list: the text ${JSON.stringify(value)}`)

  const absent = [row('v/none'), row('v'), row('v/'), row('V/0'), 'h/acme.t1', 'h/']
  for (const [n, entry] of (await store.get(absent)).entries()) {
    must(
      entry === undefined,
      `get of the absent row "${absent[n]}": expected undefined, got ${JSON.stringify(entry)}`,
    )
  }
  await write(store, { puts: [{ key: 'h/acme.t1', value: '' }] })
  same(
    (await store.list({ prefix: 'h/', limit: 9 })).map(({ key, value }) => [key, value]),
    [['h/acme.t1', '']],
    'list of a row with an empty value',
  )
  same(
    await store.commit({ checks: [{ key: 'h/acme.t1', revision: undefined }] }),
    undefined,
    'a check for no row on a row with an empty value',
  )
  await write(store, {
    checks: [{ key: 'h/acme.t2', revision: undefined }],
    deletes: [row('v/none')],
  })
}
