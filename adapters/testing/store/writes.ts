import type { Batch, Store } from '../../../src/index.ts'
import { keysUnder, must, puts, read, row, same, values, write } from './rows.ts'

const HEAD = 'h/acme.t1'

/** A commit does everything it says, or, if a check fails, nothing. */
export async function writesWhole(store: Store): Promise<void> {
  const old = [row('w/1'), row('w/2')]
  const first = await write(store, {
    checks: [{ key: HEAD, revision: undefined }],
    puts: [{ key: HEAD, value: 'one' }, ...puts(old)],
  })
  const second = await write(store, {
    checks: [
      { key: HEAD, revision: first },
      { key: 'h/acme.t2', revision: undefined },
    ],
    puts: [{ key: HEAD, value: 'two' }, ...puts([row('c/-/1'), row('v/1')])],
    deletes: [row('w/1'), row('w/none')],
    durable: true,
  })
  const after = [
    'two',
    undefined,
    ...puts([row('w/2'), row('c/-/1'), row('v/1')]).map((put) => put.value),
  ]
  const looked = [HEAD, row('w/1'), row('w/2'), row('c/-/1'), row('v/1')]
  same(await values(store, looked), after, 'a commit with puts and deletes')

  const change: Batch = {
    puts: [{ key: 'h/acme.t3', value: 'x' }, ...puts([row('c/-/2')])],
    deletes: [row('w/2'), HEAD],
  }
  const failing = [
    { what: 'an old revision', checks: [{ key: HEAD, revision: first }] },
    { what: 'no row where there is one', checks: [{ key: HEAD, revision: undefined }] },
    { what: 'a row where there is none', checks: [{ key: 'h/acme.t2', revision: second }] },
    {
      what: 'one that holds, then an old revision',
      checks: [
        { key: 'h/acme.t2', revision: undefined },
        { key: HEAD, revision: first },
      ],
    },
    {
      what: 'an old revision, then one that holds',
      checks: [
        { key: HEAD, revision: first },
        { key: 'h/acme.t2', revision: undefined },
      ],
    },
  ]
  for (const { what, checks } of failing) {
    same(await store.commit({ ...change, checks }), undefined, `a commit that checks ${what}`)
    same(
      await values(store, [...looked, 'h/acme.t3', row('c/-/2')]),
      [...after, undefined, undefined],
      `rows after a commit that checks ${what}`,
    )
    same(await store.commit({ checks }), undefined, `a commit of nothing that checks ${what}`)
  }
  same(
    await keysUnder(store, 't/'),
    [row('c/-/1'), row('v/1'), row('w/2')],
    'list after commits that failed',
  )
  same((await read(store, HEAD))?.revision, second, 'revision after commits that failed')

  await write(store, {})
  await write(store, { checks: [], puts: [], deletes: [] })
  await write(store, { checks: [{ key: HEAD, revision: second }] })
  await write(store, { deletes: [row('w/none')] })
  same((await read(store, HEAD))?.revision, second, 'revision after commits that wrote nothing')
  await write(store, { checks: [{ key: HEAD, revision: second }], deletes: [HEAD, row('w/2')] })
  same(
    await values(store, [HEAD, row('w/2'), row('v/1')]),
    [undefined, undefined, after[4]],
    'a commit of deletes',
  )
  await writesAhead(store)
  await writesLargest(store)
}

/** What a large commit of the core is made of: rows under the check of a head that stays as it is, and all of it twice. */
async function writesAhead(store: Store): Promise<void> {
  const key = 'h/acme.t4'
  const revision = await write(store, { puts: [{ key, value: 'one' }, ...puts([row('w/9')])] })
  const checks = [{ key, revision }]
  const ahead = [row('x/1'), row('x/2')]
  for (const time of ['once', 'again']) {
    await write(store, { checks, puts: puts(ahead), deletes: [row('w/9')] })
    same(
      await keysUnder(store, row('x/')),
      ahead,
      `list after rows were written ${time} under the check of another`,
    )
    same(
      await values(store, [...ahead, row('w/9')]),
      [...puts(ahead).map((put) => put.value), undefined],
      `rows that were written ${time}`,
    )
    same(await read(store, key), { key, value: 'one', revision }, 'the row that was only checked')
  }
  await write(store, { checks, puts: [{ key, value: 'two' }] })
  same(
    await store.commit({ checks, puts: puts([row('x/3')]), deletes: ahead }),
    undefined,
    'rows under the check of a head that has changed',
  )
  same(await keysUnder(store, row('x/')), ahead, 'list after such rows')
  await write(store, { deletes: [key, ...ahead] })
}

/** As much in one commit as the store says it takes, or a good deal. */
async function writesLargest(store: Store): Promise<void> {
  const { maxBatchRows, maxBatchBytes, maxValueBytes } = store.caps
  const rows = Math.min(maxBatchRows, 200)
  const keys = Array.from({ length: rows }, (_, n) => row(`s/2/${String(n).padStart(4, '0')}`))
  const bytes = Math.min(
    maxValueBytes,
    Math.floor(Math.min(maxBatchBytes, 1_500_000) / rows) - row('s/2/0000').length,
  )
  must(
    bytes > 0,
    `caps: expected room for a value in each of ${rows} rows, got ${maxBatchBytes} bytes`,
  )
  await write(store, { puts: keys.map((key) => ({ key, value: key.at(-1)!.repeat(bytes) })) })
  same(await keysUnder(store, row('s/2/')), keys, 'list after the largest batch')
  same(
    (await values(store, keys)).every((value, n) => value === keys[n]!.at(-1)!.repeat(bytes)),
    true,
    'values of the largest batch are whole',
  )
  await write(store, { deletes: keys })
  same(await keysUnder(store, row('s/2/')), [], 'list after as many deletes')
}
