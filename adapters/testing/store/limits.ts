import { isHeddleError, type Store } from '../../../src/index.ts'
import { fill, keysUnder, must, puts, read, rejection, row, same, values, write } from './rows.ts'

/** How much of a large limit is tried. */
const ENOUGH = 1_500_000
/** A limit above this is too large to go over in a test. */
const TRIED = 32 * 1024 * 1024

/** Values as long as `caps` says, counted in UTF-8 bytes, are kept whole; longer ones are refused before anything is written. */
export async function holdsLongValues(store: Store): Promise<void> {
  const { maxValueBytes, maxBatchBytes } = store.caps
  must(maxValueBytes > 0, `caps.maxValueBytes: expected a positive number, got ${maxValueBytes}`)
  const bytes = Math.floor(Math.min(maxValueBytes, maxBatchBytes - 300, ENOUGH))
  for (const letter of ['x', '"', '\\', '\u0001', 'é', '漢', '😀']) {
    const value = filled(letter, bytes)
    const key = row(`x/${letter.charCodeAt(0)}`)
    await write(store, { puts: [{ key, value }] })
    must(
      (await read(store, key))?.value === value,
      `a value of ${bytes} bytes of ${JSON.stringify(letter)}: expected it back whole`,
    )
    await write(store, { deletes: [key] })
  }
  await write(store, { puts: [{ key: 'h/acme.t1', value: filled('漢', bytes) }] })
  must(
    (await store.list({ prefix: 'h/', limit: 1 }))[0]?.value === filled('漢', bytes),
    `a head of ${bytes} bytes: expected it whole in a list`,
  )
  if (maxValueBytes <= TRIED) await refusesLonger(store)
}

async function refusesLonger(store: Store): Promise<void> {
  const { maxValueBytes } = store.caps
  await write(store, { puts: puts([row('w/1')]) })
  for (const letter of ['x', '漢']) {
    const value = filled(letter, maxValueBytes + 3)
    const what = `a value of ${maxValueBytes + 3} bytes of ${letter}, limit ${maxValueBytes}`
    await rejection(`commit of ${what}`, () =>
      store.commit({
        puts: [...puts([row('c/-/1')]), { key: row('x/1'), value }, ...puts([row('c/-/2')])],
        deletes: [row('w/1')],
      }),
    )
    await rejection(`commit of a head with ${what}`, () =>
      store.commit({ puts: [...puts([row('c/-/1')]), { key: 'h/acme.t2', value }] }),
    )
    same(
      (await store.get([row('x/1'), row('c/-/1'), row('c/-/2'), 'h/acme.t2'])).filter(Boolean)
        .length,
      0,
      `rows after ${what}`,
    )
  }
  same(await keysUnder(store, row('')), [row('w/1')], 'list after values that were too long')
  await write(store, { puts: puts([row('c/-/1')]) })
  same(
    await keysUnder(store, row('')),
    [row('c/-/1'), row('w/1')],
    'list after a commit that followed',
  )
}

/** `clear` takes all rows under a prefix and no other, also a second time. */
export async function clearsWhole(store: Store): Promise<void> {
  const inside = Array.from({ length: 1500 }, (_, n) =>
    row(`${'cvse'[n % 4]}/-/${String(n).padStart(4, '0')}`),
  )
  const beside = [
    'acme.t',
    'acme.t1-x',
    'acme.t1.x',
    'acme.t10',
    'acme.t2',
    'Acme.t1',
    'acme_t1',
  ].map((thread) => row('c/-/0000', thread))
  const others = [
    'd/00000000001/acme.t1/lease',
    'h/acme.t1',
    'n/zzz/acme.t1',
    'o/triage/acme.t1/int_1',
  ]
  const kept = [...beside, ...others]
  await fill(store, [...kept, ...inside])
  same((await keysUnder(store, row(''))).length, 1500, 'rows before a clear')

  await store.clear(row(''))
  same(await keysUnder(store, row('')), [], 'list after a clear')
  same(
    (await store.get(inside.slice(0, 200))).filter(Boolean).length,
    0,
    'rows that `get` finds after a clear',
  )
  await store.clear(row(''))
  await store.clear('t/acme.none/')
  same(
    await values(store, kept),
    puts(kept).map((put) => put.value),
    'neighbours after a clear',
  )
  same(await keysUnder(store, 't/'), beside.toSorted(), 'list of neighbours after a clear')

  await write(store, { puts: puts([row('v/1'), row('c/-/0000')]) })
  same(
    await keysUnder(store, row('')),
    [row('c/-/0000'), row('v/1')],
    'list of rows written after a clear',
  )
  await store.clear(row('c/'))
  same(await keysUnder(store, row('')), [row('v/1')], 'list after the clear of a part')
}

/** After `close` every call rejects with `storage_closed`. A store that needs no `close` has nothing to show. */
export async function refusesAfterClose(store: Store): Promise<void> {
  if (!store.close) return
  await write(store, { puts: puts(['h/acme.t1']) })
  // On its way when the store closes: either outcome will do, but it has to have one.
  const racing = store.commit({ puts: puts(['h/acme.t2']) }).then(undefined, () => undefined)
  await store.close()
  await racing
  await store.close()
  const calls = {
    get: () => store.get(['h/acme.t1']),
    list: () => store.list({ prefix: 'h/', limit: 1 }),
    commit: () => store.commit({ puts: puts(['h/acme.t3']) }),
    clear: () => store.clear('t/acme.t1/'),
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await rejection(`${name} after close`, call)
    if (isHeddleError(error, 'storage_closed')) continue
    throw new Error(
      `${name} after close: expected an error with the code "storage_closed", got ${String(error)}`,
      { cause: error },
    )
  }
  await store.close()
}

/** Text of at most so many bytes in UTF-8, and no more than three short of it. */
function filled(letter: string, bytes: number): string {
  return letter.repeat(Math.floor(bytes / new TextEncoder().encode(letter).length))
}
