// A run that ends its process again and again isn't recovered for ever: it ends as an error, and a person may go on.
import { append, compile, field, graph, memory, reduced, type Durability, type Graph } from 'heddle'
import { describe, expect, it } from 'vitest'

import { all, failure, keepBooks } from './harness.ts'
import { LEASE, line, processAt, type Process } from './leases-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const START = Date.parse('2026-03-01T08:00:00Z')

/** Processes one after the other, each of which starts when the lease of the one before has ended. */
function processes(make: () => Graph, options: { readonly durability?: Durability } = {}) {
  const store = memory()
  let now = START
  let current: Process | undefined
  let died: () => void = () => {}
  return {
    store,
    /** What the process that runs now is ended by, from inside. */
    die: (): Promise<never> => {
      current?.kill()
      died()
      return new Promise(() => {})
    },
    /** Starts the next one and lets it do something, until that is done or the process is gone. */
    async next<Value>(work: (app: Process['app']) => Promise<Value>): Promise<Value | 'dead'> {
      now += LEASE
      current = processAt(now, make, store, options)
      const dead = new Promise<'dead'>((resolve) => (died = () => resolve('dead')))
      return Promise.race([work(current.app), dead])
    },
    look: () => compile(make(), { store, logger: silent }),
  }
}

describe.each(['step', 'exit'] as const)('a poisoned node (durability %s)', (durability) => {
  it('is entered three times, then the thread is an error that says where', async () => {
    let world!: ReturnType<typeof processes>
    const { make, entered } = line(() => world.die())
    world = processes(make, { durability })
    expect(await world.next((app) => app.run({ thread: 't', input: {} }))).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    expect(await world.next((app) => app.tick())).toEqual({ woken: [], recovered: ['t'] })

    const seconds = (): number => entered.filter((name) => name === 'second').length
    expect(seconds()).toBe(3)
    const error = { name: 'RecoveryLimitExceeded', code: 'recovery_limit_exceeded' }
    const left = await world.look().state('t')
    expect(left).toMatchObject({ status: 'error', error })
    expect(left?.error?.message).toBe(
      `Cannot recover thread "t": its process died 3 times in a row, with "${durability === 'step' ? 'second' : 'first'}" next; mend that, then call run({ thread })`,
    )
    const [run] = await all(world.look().runs('t'))
    expect(run).toMatchObject({ status: 'error', error })
    // Nothing is due any more.
    expect(await world.next((app) => app.tick())).toEqual({ woken: [], recovered: [] })
    expect(seconds()).toBe(3)
    expect(await world.store.list({ prefix: 'd/', limit: 9 })).toEqual([])
  })

  it('goes on when a person says so, and a new count begins', async () => {
    let world!: ReturnType<typeof processes>
    let poisoned = true
    const { make, entered } = line(() => (poisoned ? world.die() : undefined))
    world = processes(make, { durability })
    await world.next((app) => app.run({ thread: 't', input: {} }))
    for (let n = 0; n < 3; n++) await world.next((app) => app.tick())
    const seconds = (): number => entered.filter((name) => name === 'second').length
    expect(seconds()).toBe(3)
    expect(await world.next((app) => app.run({ thread: 't' }))).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    // Also over a dead owner.
    expect(await world.next((app) => app.run({ thread: 't' }))).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    expect(seconds()).toBe(8)
    poisoned = false
    expect(await world.next((app) => app.run({ thread: 't' }))).toMatchObject({ status: 'success' })
    expect(await world.look().state('t')).toMatchObject({
      status: 'success',
      state: { log: ['first', 'second 9', 'last'] },
    })
  })
})

it('the error is told to the logger and rejects nothing', async () => {
  let world!: ReturnType<typeof processes>
  const { make } = line(() => world.die())
  world = processes(make)
  await world.next((app) => app.run({ thread: 't', input: {} }))
  for (let n = 0; n < 2; n++) await world.next((app) => app.tick())
  const told: unknown[] = []
  const logger = { ...silent, warn: (_: string, about?: object) => void told.push(about) }
  const last = processAt(START + 9 * LEASE, make, world.store, { logger })
  await last.app.tick()
  expect(told).toMatchObject([
    { thread: 't', error: { code: 'recovery_limit_exceeded', details: { attempts: 3 } } },
  ])
  expect(last.clock.pending).toBe(0)
})

describe('a process that dies now and then during a long run', () => {
  const count = (steps: number, each: () => unknown): Graph =>
    graph({
      name: 'count',
      state: { log: reduced(field<number[]>([]), append) },
      nodes: {
        async work({ log }) {
          await each()
          return { log: [log.length] }
        },
      },
      edges: { start: 'work', work: ({ log }) => (log.length < steps ? 'work' : 'end') },
    })

  it('is no poison as long as steps end in between', async () => {
    let world!: ReturnType<typeof processes>
    let entries = 0
    // Every second entry ends the process.
    const make = (): Graph => count(10, () => (++entries % 2 === 0 ? world.die() : undefined))
    world = processes(make)
    await world.next((app) => app.run({ thread: 't', input: {} }))
    let ticks = 0
    while ((await world.next((app) => app.tick())) === 'dead') ticks++
    expect(ticks).toBeGreaterThan(5)
    expect(await world.look().state('t')).toMatchObject({
      status: 'success',
      state: { log: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] },
    })
  })

  it('is none either when the steps are those of a child graph', async () => {
    let world!: ReturnType<typeof processes>
    let entries = 0
    const child = count(10, () => (++entries % 2 === 0 ? world.die() : undefined))
    const make = (): Graph =>
      graph({
        name: 'parent',
        state: { n: field(0) },
        nodes: {
          async whole(_, ctx) {
            const { log } = (await ctx.child(child, {})) as { log: number[] }
            return { n: log.length }
          },
        },
        edges: { start: 'whole', whole: 'end' },
      })
    world = processes(make)
    await world.next((app) => app.run({ thread: 't', input: {} }))
    let ticks = 0
    while ((await world.next((app) => app.tick())) === 'dead') ticks++
    expect(ticks).toBeGreaterThan(5)
    expect(await world.look().state('t')).toMatchObject({ status: 'success', state: { n: 10 } })
  })

  it('counts anew after a pause', async () => {
    let world!: ReturnType<typeof processes>
    let entries = 0
    const { make } = line(async (ctx) => {
      entries++
      if (entries <= 2) return world.die()
      const answer = await ctx.interrupt('Go on?')
      return entries <= 6 ? world.die() : answer
    })
    world = processes(make)
    await world.next((app) => app.run({ thread: 't', input: {} }))
    await world.next((app) => app.tick())
    // The second recovery asks: it has ended well.
    expect(await world.next((app) => app.tick())).toEqual({ woken: [], recovered: ['t'] })
    expect(await world.next((app) => app.run({ thread: 't', answer: 'yes' }))).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    expect(await world.next((app) => app.tick())).toBe('dead')
    expect(await world.next((app) => app.tick())).toEqual({ woken: [], recovered: ['t'] })
    expect(await world.look().state('t')).toMatchObject({
      error: { code: 'recovery_limit_exceeded' },
    })
    expect(entries).toBe(6)
    // The answer that had come is still there.
    expect(await world.next((app) => app.run({ thread: 't' }))).toMatchObject({ status: 'success' })
  })
})

it('a request that is refused changes nothing of the count', async () => {
  let world!: ReturnType<typeof processes>
  const { make, entered } = line(() => world.die())
  world = processes(make)
  await world.next((app) => app.run({ thread: 't', input: {} }))
  for (let n = 0; n < 2; n++) await world.next((app) => app.tick())
  expect(await failure(world.look().run({ thread: 't', answer: 1 }))).toMatchObject({
    code: 'nothing_to_resume',
  })
  expect(await world.next((app) => app.tick())).toEqual({ woken: [], recovered: ['t'] })
  expect(entered.filter((name) => name === 'second')).toHaveLength(3)
})
