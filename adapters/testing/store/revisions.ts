import type { Store } from '../../../src/index.ts'
import { fill, keysUnder, must, puts, read, row, same, values, write } from './rows.ts'

const HEAD = 'h/acme.t1'

/** Of writers that saw the same revision exactly one gets in; in an atomic store the rest leave no trace. */
export async function letsOneWin(store: Store): Promise<void> {
  const all = Array.from({ length: 50 }, (_, n) => n)
  const { atomic } = store.caps
  if (atomic)
    await fill(
      store,
      all.map((n) => row(`w/${n}`)),
    )
  let left = all
  let revision: string | undefined
  for (const round of ['no row', 'a revision']) {
    const outcomes = await Promise.all(
      all.map((n) =>
        store.commit({
          checks: [{ key: HEAD, revision }],
          puts: [
            { key: HEAD, value: `by ${n}` },
            ...(atomic ? puts([row(`c/${round}/${n}`)]) : []),
          ],
          deletes: atomic ? [row(`w/${n}`)] : [],
        }),
      ),
    )
    const winners = all.filter((n) => outcomes[n] !== undefined)
    same(winners.length, 1, `winners of fifty commits that check for ${round}`)
    const [winner] = winners as [number]
    revision = outcomes[winner]
    same(
      await read(store, HEAD),
      { key: HEAD, value: `by ${winner}`, revision },
      `the row fought over, checked for ${round}`,
    )
    if (!atomic) continue
    same(
      await keysUnder(store, row(`c/${round}/`)),
      [row(`c/${round}/${winner}`)],
      `rows put by fifty commits that check for ${round}`,
    )
    left = left.filter((n) => n !== winner)
    same(
      await keysUnder(store, row('w/')),
      left.map((n) => row(`w/${n}`)).toSorted(),
      `rows that the losers wanted to delete, checked for ${round}`,
    )
  }
  await countsTogether(store)
}

/** Writers that read, check and try again lose no update. */
async function countsTogether(store: Store): Promise<void> {
  const key = 'h/acme.count'
  async function addThree(): Promise<void> {
    for (let done = 0, tries = 0; done < 3; tries++) {
      must(tries < 1000, 'ten writers that try again: expected each to get in at last')
      const entry = await read(store, key)
      const value = String(Number(entry?.value ?? 0) + 1)
      if (
        await store.commit({ checks: [{ key, revision: entry?.revision }], puts: [{ key, value }] })
      )
        done++
    }
  }
  await Promise.all(Array.from({ length: 10 }, addThree))
  same((await read(store, key))?.value, '30', 'a count by ten writers that try again')
}

/** A revision says which commit wrote a row, for good: nobody takes a new row for the one it replaced. */
export async function neverReusesRevisions(store: Store): Promise<void> {
  const seen = new Set<string>()
  function isNew(revision: string, how: string): void {
    must(!seen.has(revision), `revision of ${how}: expected a new one, got "${revision}" again`)
    seen.add(revision)
  }
  let old: string | undefined
  for (let round = 1; round <= 5; round++) {
    const made = await write(store, {
      checks: [{ key: HEAD, revision: undefined }],
      puts: [{ key: HEAD, value: 'same' }],
    })
    isNew(made, round === 1 ? 'a first put' : 'a put after a delete')
    if (old) {
      same(
        await store.commit({ checks: [{ key: HEAD, revision: old }], deletes: [HEAD] }),
        undefined,
        'a check of the revision before a delete and a put of the same value',
      )
    }
    const rewritten = await write(store, {
      checks: [{ key: HEAD, revision: made }],
      puts: [{ key: HEAD, value: 'same' }],
    })
    isNew(rewritten, 'a rewrite with the same value')
    same((await read(store, HEAD))?.revision, rewritten, 'revision that `get` shows')
    same(
      await store.commit({ checks: [{ key: HEAD, revision: made }], deletes: [HEAD] }),
      undefined,
      'a check of the revision before a rewrite',
    )
    await write(store, { checks: [{ key: HEAD, revision: rewritten }], deletes: [HEAD] })
    same(
      await store.commit({
        checks: [{ key: HEAD, revision: rewritten }],
        puts: [{ key: HEAD, value: 'x' }],
      }),
      undefined,
      'a check of the revision of a deleted row',
    )
    old = rewritten
  }
  const racing = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      write(store, { puts: [{ key: `h/acme.r${n}`, value: 'same' }] }),
    ),
  )
  for (const revision of racing) isNew(revision, 'commits at the same time')
  if (!store.caps.atomic) return
  for (let round = 0; round < 3; round++) {
    isNew(await write(store, { puts: puts([row('v/1')]) }), 'a put after a clear')
    await store.clear(row(''))
  }
}

/** A revision that this store never gave simply doesn't match. */
export async function refusesForeign(store: Store): Promise<void> {
  const here = await write(store, { puts: [{ key: HEAD, value: 'kept' }] })
  const other = await write(store, { puts: [{ key: 'h/acme.t2', value: 'other' }] })
  const foreign = [
    other,
    '',
    ' ',
    'foreign',
    'undefined',
    'null',
    `${here} `,
    ` ${here}`,
    `${here}0`,
    `${here}/`,
    '00000000000000000000',
    'f'.repeat(20),
    '-1',
    '1e9',
    'NaN',
    '0198f2c4-7d1e-7cc3-98c4-dc0c0c07398f',
    "' or 1=1 --",
    '%',
    '"\\',
    '漢😀\u0000',
    'x'.repeat(1000),
  ].filter((revision) => revision !== here)
  for (const key of [HEAD, 'h/acme.none']) {
    for (const revision of foreign) {
      const what = `a check of ${key === HEAD ? 'a row' : 'no row'} for the revision ${JSON.stringify(revision).slice(0, 50)}`
      let outcome: unknown
      try {
        outcome = await store.commit({
          checks: [{ key, revision }],
          puts: [{ key, value: 'taken' }],
        })
      } catch (error) {
        throw new Error(`${what}: expected undefined, but it threw ${String(error)}`, {
          cause: error,
        })
      }
      same(outcome, undefined, what)
    }
  }
  same(
    await values(store, [HEAD, 'h/acme.none']),
    ['kept', undefined],
    'rows after checks of foreign revisions',
  )
  await write(store, {
    checks: [{ key: HEAD, revision: here }],
    puts: [{ key: HEAD, value: 'next' }],
  })
}
