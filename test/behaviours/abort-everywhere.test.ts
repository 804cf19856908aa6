// B25, wherever a run happens to be: it is stopped after some time, by chance, on a store that takes its time.
import { append, compile, field, graph, memory, reduced, type Durability, type Graph } from 'heddle'
import { expect, it } from 'vitest'
import { idle } from './abort-idle.ts'
import {
  after,
  all,
  countingClock,
  keepBooks,
  mulberry32,
  SEEDS,
  times,
  unevenStore,
} from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const FINAL = ['one', 'left', 'right:9', 'three:yes', 'four:once']

/** Four steps with all there is: parallel nodes, a child graph, a retry, a question, work under once, async routers. */
function story(random: () => number): Graph {
  const slow = times(random, 3)
  const inner = graph({
    name: 'inner',
    state: { y: field<number>(0) },
    nodes: {
      async first(_, ctx) {
        await idle(1, ctx.signal)
        return { y: 4 }
      },
      async second({ y }) {
        await slow()
        return { y: y + 5 }
      },
    },
    edges: { start: 'first', first: 'second', second: 'end' },
  })
  return graph({
    name: 'four',
    state: { log: reduced(field<string[]>([]), append) },
    events: field<string>(),
    nodes: {
      async one(_, ctx) {
        await slow()
        await ctx.emit('one')
        return { log: ['one'] }
      },
      left: {
        async run(_, ctx) {
          await idle(1, ctx.signal)
          if (random() < 0.5) throw new Error('unlucky')
          return { log: ['left'] }
        },
        retry: { attempts: 50, delay: 1, factor: 1 },
      },
      async right(_, ctx) {
        return { log: [`right:${(await ctx.child(inner, {})).y}`] }
      },
      async three(_, ctx) {
        await slow()
        return { log: [`three:${String(await ctx.interrupt('sure?'))}`] }
      },
      async four(_, ctx) {
        const how = await ctx.once('work', async () => {
          await slow()
          return 'once'
        })
        await slow()
        return { log: [`four:${how}`] }
      },
    },
    edges: {
      start: async () => {
        await slow()
        return 'one' as const
      },
      one: ['left', 'right'],
      left: 'three',
      right: 'three',
      three: async () => {
        await slow()
        return 'four' as const
      },
      four: 'end',
    },
  })
}

type How = 'abort' | 'leave' | 'signal' | 'timeout' | 'cancel'
const WAYS: readonly How[] = ['abort', 'leave', 'signal', 'timeout', 'cancel']

/** Stops one thread's runs until it comes to its end; how often it was stopped. */
async function stopAgainAndAgain(seed: number, durability: Durability): Promise<number> {
  const random = mulberry32(seed)
  const store = unevenStore(memory(), random)
  const clock = countingClock()
  let stops = 0
  for (let round = 0; ; round++) {
    expect(round, `rounds of seed ${seed}`).toBeLessThan(200)
    const app = compile(story(random), { store, clock, logger: silent, durability })
    const before = await app.state('t')
    if (before?.status === 'success') break
    const answer = before?.interruptions.length === 1
    const request = before ? (answer ? { answer: 'yes' } : {}) : { input: {} }
    const controller = new AbortController()
    const reason = new Error(`stop ${round}`)
    const how = WAYS[Math.floor(random() * WAYS.length)] as How
    // Ever longer, so that it comes to an end.
    const ms = Math.floor(random() * (8 + 6 * round))
    const live = app.stream({
      thread: 't',
      signal: controller.signal,
      ...request,
      ...(how === 'timeout' && { timeout: ms + 1 }),
    })
    const reader = live[Symbol.asyncIterator]()
    const reading = (async () => {
      while (!(await reader.next()).done);
    })().catch((error: unknown) => error)
    await after(ms)
    if (how === 'abort') live.abort(reason)
    if (how === 'signal') controller.abort(reason)
    if (how === 'leave') await reader.return?.()
    if (how === 'cancel') await app.cancel('t').catch(() => {})
    const began = performance.now()
    const outcome = await live.outcome.catch((error: unknown) => ({ error }))
    await reading
    expect(performance.now() - began).toBeLessThan(5000)
    const left = await app.state('t')
    if ('error' in outcome) {
      stops++
      const status = how === 'timeout' ? 'error' : 'cancelled'
      // Stopped before it was claimed, it is as it was.
      expect([status, before?.status]).toContain(left?.status)
      if (how === 'abort' || how === 'signal') expect(outcome.error).toBe(reason)
      if (how === 'timeout') expect(outcome.error).toMatchObject({ name: 'TimeoutError' })
    } else if (how !== 'cancel') expect(left?.status).toBe(outcome.status)
    // A cancel that comes when the run has paused voids the pause.
    else expect(['cancelled', outcome.status]).toContain(left?.status)
    expect(clock.live()).toBe(0)
    for (const run of await all(app.runs('t')))
      expect(run.status).toMatch(/^(success|interrupted|waiting|error|cancelled)$/)
  }
  const app = compile(story(random), { store, clock })
  const ended = await app.state('t')
  expect(ended?.state).toEqual({ log: FINAL })
  expect(ended?.next).toEqual([])
  expect(await app.interruptions()).toEqual([])
  return stops
}

// All at once: they mostly wait.
it.each(['step', 'exit'] as const)(
  'a run stopped again and again never stays running, and comes to the right end (durability %s)',
  async (durability) => {
    const stops = await Promise.all(SEEDS.map((seed) => stopAgainAndAgain(seed, durability)))
    expect(Math.max(...stops)).toBeGreaterThan(2)
  },
)
