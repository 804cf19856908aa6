// A prune that dies at any operation, or hears nothing of one: the thread is read and goes on, and another finishes the work.
import { memory, type Snapshot, type Store } from 'heddle'
import { withFaults, type Fault } from 'heddle/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { smallStore } from '../fakes/small-store.ts'
import { all, keepBooks, rowsOf } from './harness.ts'
import { copyOf, looks, past, without, type Past } from './prune-parts.ts'

keepBooks()

type Kind = (store: Store) => Store

const kinds: Readonly<Record<string, Kind>> = {
  atomic: (store) => store,
  'without atomic batches': (store) => ({ ...store, caps: { ...store.caps, atomic: false } }),
  small: (store) => smallStore(store, { maxBatchRows: 40 }),
}

const faults: Readonly<Record<string, (at: number) => Fault>> = {
  'a crash before': (at) => ({ at, crash: 'before' }),
  'a crash after': (at) => ({ at, crash: 'after' }),
  'no reply of': (at) => ({ at, lose: 'reply' }),
}
const torn = { 'a part of': (at: number): Fault => ({ at, tear: 3, crash: 'after' }) }

describe.each(Object.entries(kinds))('on a store that is %s', (name, kind) => {
  let one: Past
  let own: Snapshot[]
  beforeAll(async () => {
    one = await past(3, 16, kind(memory()))
    own = (await looks(one.app))[0]!
  })
  const every = { ...faults, ...(name.startsWith('without') && torn) }
  it.each(Object.entries(every))('%s every operation', async (_, fault) => {
    expect(own.length).toBeGreaterThan(25)
    const whole = await copyOf(one.store)
    await one.on(kind(whole)).prune('t', { keepLast: 5 })
    const done = without(await rowsOf(whole))
    let at = 1
    for (let hit = true; hit; at++) {
      const under = await copyOf(one.store)
      const store = withFaults(kind(under), [fault(at)])
      await one
        .on(store)
        .prune('t', { keepLast: 5 })
        .catch(() => {})
      hit = store.log.length >= at
      const app = one.on(kind(under))
      expect(await app.state('t'), `state after ${at}`).toEqual(await one.app.state('t'))
      const left = await all(app.history('t'))
      expect(left.slice(0, 5), `what is kept after ${at}`).toEqual(own.slice(0, 5))
      expect(own, `what is left after ${at}`).toEqual(expect.arrayContaining(left))

      const goes = one.on(kind(await copyOf(under)))
      expect(await goesOn(goes), `going on after ${at}`).toEqual(
        await goesOn(one.on(kind(await copyOf(one.store)))),
      )

      await app.prune('t', { keepLast: 5 })
      expect(without(await rowsOf(under)), `rows after ${at}`).toEqual(done)
    }
    expect(at).toBeGreaterThan(5)
  })
})

/** Goes on with whatever the thread waits for. */
async function goesOn(app: Past['app']): Promise<object> {
  const open = await app.interruptions({ thread: 't' })
  const answers = Object.fromEntries(open.map(({ id }) => [id, 'at last']))
  const request = open.length > 0 ? { answers } : {}
  const { status, state } = await app.run({ thread: 't', ...request } as never)
  return { status, state }
}
