// Pasts by chance, with branches, forks, child graphs and failures: whatever a prune keeps is what it was.
import type { Snapshot, Store } from 'heddle'
import { describe, expect, it } from 'vitest'
import { all, keepBooks, mulberry32, rowsOf } from './harness.ts'
import { copyOf, looks, past, without, type Past } from './prune-parts.ts'

keepBooks()

/** What a thread becomes when it goes on from a checkpoint, names apart. */
async function onFrom({ on }: Past, store: Store, from: string): Promise<object> {
  const app = on(store)
  const forked = await app.fork('t', { from, to: `fork ${from}` })
  let outcome = await app.run({ thread: forked.thread }).catch(() => undefined)
  for (let n = 0; outcome?.status === 'interrupted'; n++) {
    const [first] = outcome.interruptions
    outcome = await app.run({ thread: forked.thread, answers: { [first!.id]: `a${n}` } })
  }
  return (await app.state(forked.thread))!.state as object
}

describe.each(Array.from({ length: 20 }, (_, n) => n + 1))('past %i', (seed) => {
  it('what is kept is what it was, and nothing else stays', async () => {
    const random = mulberry32(1000 + seed)
    const one = await past(seed)
    const [own, inner] = (await looks(one.app)) as [Snapshot[], Snapshot[]]
    const keepLast = 1 + Math.floor(random() * own.length)
    const olderThan = new Date(own[Math.floor(random() * own.length)]!.createdAt)
    const kept = [{ keepLast }, { olderThan }, { keepLast, olderThan }][seed % 3]!
    const count = 'keepLast' in kept ? keepLast : 1
    const age = 'olderThan' in kept ? Number(olderThan) : Infinity
    const isYoung = ({ createdAt }: Snapshot): boolean => Date.parse(createdAt) >= age
    const expected = own.filter((each, n) => n < count || isYoung(each))

    const pruned = await copyOf(one.store)
    const app = one.on(pruned)
    const { removed } = await app.prune('t', kept)
    const [ownNow, innerNow] = (await looks(app)) as [Snapshot[], Snapshot[]]
    expect(ownNow).toEqual(expected)
    for (const snapshot of ownNow)
      expect(await app.state('t', { checkpoint: snapshot.checkpoint })).toEqual(snapshot)
    expect(inner).toEqual(expect.arrayContaining(innerNow))
    const since = 'keepLast' in kept ? own[Math.min(keepLast, own.length) - 1]!.checkpoint : '~'
    const children = inner.filter((each) => each.checkpoint >= since || isYoung(each))
    expect(innerNow).toEqual(expect.arrayContaining(children))
    expect(removed).toBeGreaterThanOrEqual(own.length - expected.length)
    expect(await all(app.runs('t'))).toEqual(
      (await all(one.app.runs('t'))).slice(0, (await all(app.runs('t'))).length),
    )
    expect(await app.interruptions({ thread: 't' })).toEqual(
      await one.app.interruptions({ thread: 't' }),
    )

    // Every row that is left is led to.
    const rows = await rowsOf(pruned)
    const { entries } = await app.exportThread('t')
    expect(entries).toHaveLength(1 + rows.filter(({ key }) => key.startsWith('t/')).length)
    expect(await app.prune('t', kept)).toEqual({ removed: 0 })
    expect(await rowsOf(pruned)).toEqual(rows)

    // In two steps it comes to the same.
    const twice = await copyOf(one.store)
    await one.on(twice).prune('t', { ...kept, keepLast: Math.max(count, own.length - 1) })
    await one.on(twice).prune('t', kept)
    expect(without(await rowsOf(twice))).toEqual(without(rows))

    // Whatever is kept goes on as it would have.
    for (const { checkpoint } of ownNow.slice(0, 4))
      expect(await onFrom(one, pruned, checkpoint)).toEqual(
        await onFrom(one, one.store, checkpoint),
      )
  })
})
