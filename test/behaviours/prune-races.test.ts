// A prune beside answers, branches, other prunes and readers: nobody is told of damage, and nothing that is left is broken.
import type { CompiledGraph, Snapshot, Store } from 'heddle'
import { beforeAll, describe, expect, it } from 'vitest'
import { all, keepBooks } from './harness.ts'
import { copyOf, looks, past, type Past } from './prune-parts.ts'

keepBooks()

/** A store that does something before its operation of that number. */
function before(
  store: Store,
  at: number,
  act: () => Promise<unknown>,
): Store & { readonly done: number } {
  let n = 0
  const count = async (): Promise<void> => {
    if (++n === at) await act()
  }
  return {
    ...store,
    get done() {
      return n
    },
    get: (keys) => count().then(() => store.get(keys)),
    list: (range) => count().then(() => store.list(range)),
    commit: (batch) => count().then(() => store.commit(batch)),
    clear: (prefix) => count().then(() => store.clear(prefix)),
  }
}

/** Does it with something else before each of its operations, on a copy of a past each time. */
async function beside(
  one: Past,
  work: (app: CompiledGraph) => Promise<void>,
  other: (app: CompiledGraph) => Promise<unknown>,
  then: (app: CompiledGraph) => Promise<void> = async () => {},
): Promise<number> {
  for (let at = 1; ; at++) {
    const store = await copyOf(one.store)
    const seen = before(store, at, () => other(one.on(store)))
    await work(one.on(seen))
    if (seen.done < at) return at - 1
    await then(one.on(store))
  }
}

let one: Past
let own: Snapshot[]
let inner: Snapshot[]
beforeAll(async () => {
  // It waits in a child graph.
  one = await past(21, 14)
  ;[own, inner] = (await looks(one.app)) as [Snapshot[], Snapshot[]]
  expect(own[0]!.status).toBe('interrupted')
  expect([own.length > 20, inner.length > 2]).toEqual([true, true])
})

const removals: Readonly<Record<string, (app: CompiledGraph) => Promise<unknown>>> = {
  prune: (app) => app.prune('t', { keepLast: 1 }),
  delete: (app) => app.delete('t'),
}

describe.each(Object.entries(removals))('beside a %s', (name, removal) => {
  const gone = name === 'delete' ? [undefined] : []

  it('state tells what was there or what is there', async () => {
    const [newest] = own as [Snapshot]
    const read = async (app: CompiledGraph): Promise<void> =>
      expect([newest, ...gone]).toContainEqual(await app.state('t'))
    expect(await beside(one, read, removal)).toBeGreaterThan(1)
    const old = own.at(-3)!
    const readOld = async (app: CompiledGraph): Promise<void> =>
      expect([old, undefined]).toContainEqual(await app.state('t', { checkpoint: old.checkpoint }))
    expect(await beside(one, readOld, removal)).toBeGreaterThan(1)
  })

  it('state and history of a child graph too', async () => {
    const read = async (app: CompiledGraph): Promise<void> => {
      const seen = await all(app.history('t', { ns: ['go'] }))
      expect(inner).toEqual(expect.arrayContaining(seen))
      expect([...inner, undefined]).toContainEqual(await app.state('t', { ns: ['go'] }))
    }
    expect(await beside(one, read, removal)).toBeGreaterThan(5)
  })

  it('history ends early at most', async () => {
    const read = async (app: CompiledGraph): Promise<void> => {
      const seen = await all(app.history('t'))
      expect(own).toEqual(expect.arrayContaining(seen))
      if (name === 'prune') expect(seen[0]).toEqual(own[0])
    }
    expect(await beside(one, read, removal)).toBeGreaterThan(10)
  })

  it('questions and runs are told or not', async () => {
    const read = async (app: CompiledGraph): Promise<void> => {
      for (const status of ['open', 'answered', 'cancelled'] as const) {
        const asked = await one.app.interruptions({ thread: 't', status })
        const seen = await app.interruptions({ thread: 't', status })
        const ids = asked.map(({ id }) => id)
        expect(ids).toEqual(expect.arrayContaining(seen.map(({ id }) => id)))
      }
      await all(app.runs('t'))
      await all(app.threads())
    }
    expect(await beside(one, read, removal)).toBeGreaterThan(5)
  })
})

it('an answer comes through a prune', async () => {
  const [{ interruptions }] = own as [Snapshot]
  const answers = Object.fromEntries(interruptions.map(({ id }) => [id, 'yes']))
  const expected = (await one.on(await copyOf(one.store)).run({ thread: 't', answers })).state
  const answer = async (app: CompiledGraph): Promise<void> =>
    expect((await app.run({ thread: 't', answers })).state).toEqual(expected)
  // Once its run has the thread, the prune is refused.
  const prune = (app: CompiledGraph): Promise<unknown> =>
    app
      .prune('t', { keepLast: 1 })
      .catch((error: { code?: string }) => expect(error.code).toBe('thread_busy'))
  expect(await beside(one, answer, prune)).toBeGreaterThan(5)
})

it.each(['run', 'fork'] as const)(
  'a branch (%s) is made before what it needs goes, or not at all',
  async (how) => {
    const { checkpoint, state } = own.at(-4)!
    const branch = async (app: CompiledGraph): Promise<void> => {
      const made =
        how === 'fork'
          ? app.fork('t', { from: checkpoint })
          : app.run({ thread: 't', from: checkpoint })
      const error = await made.then(
        () => undefined,
        (reason: { code?: string }) => reason,
      )
      expect([undefined, 'unknown_checkpoint', 'thread_busy']).toContain(error?.code)
    }
    const prune = (app: CompiledGraph): Promise<unknown> =>
      app
        .prune('t', { keepLast: 1 })
        .catch((error: { code?: string }) => expect(error.code).toBe('thread_busy'))
    const whole = async (app: CompiledGraph): Promise<void> => {
      const left = await all(app.history('t'))
      const same = left.find((each) => each.checkpoint === checkpoint)
      if (same) expect(same.state).toEqual(state)
      await app.prune('t', { keepLast: 1 })
      expect(await all(app.history('t'))).toHaveLength(1)
    }
    expect(await beside(one, branch, prune, whole)).toBeGreaterThan(3)
    // The other way round.
    const pruning = async (app: CompiledGraph): Promise<void> => void (await prune(app))
    const branching = (app: CompiledGraph): Promise<unknown> => branch(app)
    expect(await beside(one, pruning, branching, whole)).toBeGreaterThan(3)
  },
)

it('two prunes at once leave what one leaves', async () => {
  const prune = async (app: CompiledGraph): Promise<void> => {
    await app.prune('t', { keepLast: 3 })
    expect(await all(app.history('t'))).toEqual(own.slice(0, 3))
  }
  await beside(one, prune, (app) => app.prune('t', { keepLast: 4 }))
})
