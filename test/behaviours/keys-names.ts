// One name that is odd: of a thread, a tenant, a graph.
import { compile, type Runner } from 'heddle'
import { checkKey, counter, ODD, watched } from './keys-tools.ts'
import { all, equal, refusedWith, rowsOf, type Cases } from './portable.ts'

/** How many rows there are; a long one may lie in pieces. */
const count = (rows: ReadonlyMap<string, string>): number =>
  [...rows.keys()].filter((key) => !/^t\/[^/]*\/x\//.test(key)).length

export const nameCases: Cases = {
  async 'threads with odd ids keep apart, and one is deleted alone'(reopen) {
    const keys = new Set<string>()
    const make = counter('g')
    const app = compile(make, { store: watched(await reopen(), keys) })
    for (const [id, thread] of ODD.entries()) await app.run({ thread, input: { id } })
    const later = compile(make, { store: await reopen() })
    const deleted = new Set<string>()
    await check(later, deleted)
    const store = await reopen()
    for (const gone of ['a', '', '__proto__', 'x'.repeat(5000), '\ud83d']) {
      const before = await rowsOf(store)
      await later.delete(gone)
      const after = await rowsOf(store)
      const others = ODD.filter((id) => id !== gone && !deleted.has(id))
      equal([...before.keys()].length > after.size, true, 'rows went')
      for (const [key, value] of after) equal(before.get(key), value, `row ${key}`)
      deleted.add(gone)
      await check(later, deleted)
      equal(
        count(before) - count(after),
        count(before) / (others.length + 1),
        `rows of "${gone.slice(0, 9)}"`,
      )
    }
    // Again on a name that was used before, nothing of the old thread comes back.
    await later.run({ thread: 'a', input: { id: 99 } })
    equal((await all(later.history('a'))).length, 1, 'checkpoints of the new thread')
    equal((await later.state('a'))?.state, { id: 99 }, 'its state')
    for (const key of keys) checkKey(key)
  },

  async 'tenants with odd ids see their own threads, lists and questions only'(reopen) {
    const keys = new Set<string>()
    const make = counter('g')
    const app = compile(make, { store: watched(await reopen(), keys) })
    const tenants = ODD.filter((id) => id !== '')
    for (const [id, tenant] of tenants.entries()) {
      await app.tenant(tenant).run({ thread: 'a', input: { id } })
    }
    await app.run({ thread: 'a', input: { id: 1000 } })
    const later = compile(make, { store: await reopen() })
    for (const [id, tenant] of tenants.entries()) {
      const own = later.tenant(tenant)
      equal((await own.state('a'))?.state, { id }, 'state')
      const threads = await all(own.threads())
      equal(threads.map((one) => [one.id, one.tenant]).sort(), [['a', tenant]], 'threads')
      equal(
        (await own.interruptions()).map(({ thread }) => thread),
        ['a'],
        'questions',
      )
    }
    await later.tenant('a').delete('a')
    equal(await later.tenant('a').state('a'), undefined, 'the deleted one')
    for (const [id, tenant] of tenants.entries())
      if (tenant !== 'a')
        equal((await later.tenant(tenant).state('a'))?.state, { id }, 'another one')
    equal((await later.state('a'))?.state, { id: 1000 }, 'the one of no tenant')
    equal(
      (await all(later.threads())).map(({ id }) => id),
      ['a'],
      'threads of no tenant',
    )
    for (const key of keys) checkKey(key)
  },

  async 'graphs with odd names list their own threads only, and refuse those of others'(reopen) {
    const keys = new Set<string>()
    const names = ODD.filter((id) => id !== '')
    const shared = watched(await reopen(), keys)
    const apps = names.map((name) => compile(counter(name), { store: shared }))
    for (const [id, app] of apps.entries()) await app.run({ thread: `t${id}`, input: { id } })
    for (const [id, app] of apps.entries()) {
      equal(
        (await all(app.threads())).map((one) => one.id),
        [`t${id}`],
        'threads',
      )
      equal(
        (await app.interruptions()).map(({ thread }) => thread),
        [`t${id}`],
        'questions',
      )
    }
    const before = await rowsOf(await reopen())
    const [g1, g2] = apps as [(typeof apps)[0], (typeof apps)[0]]
    for (const work of [
      () => g2.run({ thread: 't0', input: { id: 7 } }),
      () => g2.run({ thread: 't0', answer: 1 }),
      () => g2.run({ thread: 't0' }),
      () => g2.state('t0'),
      () => all(g2.history('t0')),
      () => all(g2.runs('t0')),
      () => g2.interruptions({ thread: 't0' }),
      () => g2.cancel('t0'),
      () => g2.delete('t0'),
    ]) {
      const { details } = await refusedWith('graph_mismatch', work)
      equal(details, { thread: 't0', graph: names[0] }, 'details')
    }
    equal([...(await rowsOf(await reopen()))], [...before], 'rows')
    equal((await g1.run({ thread: 't0', answer: 1 })).status, 'success', 'its own graph')
    for (const key of keys) checkKey(key)
  },
}

async function check(app: Runner, gone: ReadonlySet<string>): Promise<void> {
  for (const [id, thread] of ODD.entries()) {
    const found = await app.state(thread)
    equal(
      found?.state,
      gone.has(thread) ? undefined : { id },
      `state of ${JSON.stringify(thread.slice(0, 9))}`,
    )
    equal((await all(app.history(thread))).length, gone.has(thread) ? 0 : 1, 'checkpoints')
  }
  const left = ODD.filter((id) => !gone.has(id))
  equal((await all(app.threads())).map((one) => one.id).sort(), [...left].sort(), 'threads')
  const asked = await app.interruptions({ limit: 1000 })
  equal(asked.map(({ payload }) => payload).sort(), [...left].sort(), 'questions')
}
