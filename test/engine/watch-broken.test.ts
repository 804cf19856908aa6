import {
  compile,
  memory,
  type CompileOptions,
  type Logger,
  type Monitor,
  type Presence,
} from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'
import { all, failure } from '../behaviours/harness.ts'
import { pause } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'
import { steps, Watcher } from './watch-parts.ts'

const secret = 'sk-canary'
const broken: Readonly<Record<string, () => unknown>> = {
  'that throws': () => {
    throw new TypeError(secret)
  },
  'whose promise rejects': () => Promise.reject(new TypeError(secret)),
  'whose promise breaks when it is looked at': () => ({
    // oxlint-disable-next-line unicorn/no-thenable -- what is odd about it
    get then() {
      throw new TypeError(secret)
    },
  }),
}

it.each(Object.entries(broken))(
  'runs as it would with nobody watching, beside a monitor and a presence %s',
  async (_, fails) => {
    const { logger, lines } = logging()
    const own = new Watcher()
    const app = compile(asking, {
      logger,
      monitor: { emit: fails } as Monitor,
      presence: { set: fails } as Presence,
    })
    const request = { thread: 't1', ...own.both } as const
    const asked = await app.run({ ...request, input: {} })
    expect(asked.status).toBe('interrupted')
    const ended = await app.run({ ...request, answer: 'yes' })
    expect(ended).toMatchObject({ status: 'success', state: { said: 'yes' } })
    await pause(1)
    expect(own.order).toEqual([
      ...['run_start', 'thinking', 'run_interrupt', 'waiting_input'],
      ...['run_start', 'thinking', 'run_end', 'idle'],
    ])
    expect(lines.map(([level, message]) => [level, message])).toEqual(
      [
        'monitor',
        'presence',
        'monitor',
        'presence',
        'monitor',
        'presence',
        'monitor',
        'presence',
      ].map((who) => ['warn', `A ${who} failed`]),
    )
    expect(lines[0]?.[2]).toEqual({ told: 'run_start', error: 'TypeError' })
    expect(JSON.stringify(lines)).not.toContain(secret)
  },
)

it('tells one that takes its time all the same, in order', async () => {
  const order: string[] = []
  const app = compile(asking, {
    monitor: {
      async emit({ kind }) {
        order.push(`${kind} begins`)
        await pause(1)
        order.push(`${kind} ends`)
      },
    },
  })
  await app.run({ thread: 't1', input: {} })
  await app.run({ thread: 't1', answer: 1 })
  const begun = order.filter((one) => one.endsWith('begins')).map((one) => one.split(' ')[0])
  expect(begun).toEqual(['run_start', 'run_interrupt', 'run_start', 'run_end'])
})

it('tells those of the app and those of the request, for that run only, and nobody twice', async () => {
  const [apps, requests] = [new Watcher(), new Watcher()]
  const app = compile(asking, { ...apps.both })
  await app.run({ thread: 't1', input: {}, ...requests.both })
  await app.run({ thread: 't1', answer: 'yes', ...apps.both })
  expect(requests.order).toEqual(['run_start', 'thinking', 'run_interrupt', 'waiting_input'])
  expect(apps.order).toEqual([...requests.order, 'run_start', 'thinking', 'run_end', 'idle'])
  expect(requests.told[0]).toEqual(apps.told[0])
  expect(requests.told[0]).not.toBe(apps.told[0])
})

it('tells those of a request until its waits are over', async () => {
  const clock = manualClock()
  const seen = new Watcher()
  const app = compile(
    steps((ctx) => ctx.sleep(1000)),
    { clock },
  )
  const ended = app.runUntilDone({ thread: 't1', input: {}, ...seen.both })
  await clock.advance(1000)
  await ended
  expect(seen.order).toEqual([
    ...['run_start', 'thinking', 'idle'],
    ...['run_start', 'thinking', 'run_end', 'idle'],
  ])
})

it('tells nothing a second time to whoever follows a run', async () => {
  const seen = new Watcher()
  const app = compile(asking, seen.both)
  const request = { thread: 't1', input: {}, idempotencyKey: 'k' }
  const first = await app.run(request)
  expect((await app.run(request)).run).toBe(first.run)
  expect(seen.kinds).toEqual(['run_start', 'run_interrupt'])
})

it('tells of no failure that could not be recorded, and shows it', async () => {
  const { logger, lines } = logging()
  const seen = new Watcher()
  const store = withFaults(memory())
  const app = compile(
    steps(() => {
      store.close()
      throw new Error('and the disk is gone')
    }),
    { store, logger, ...seen.both },
  )
  await failure(app.run({ thread: 't1', input: {} }))
  expect(seen.order).toEqual(['run_start', 'thinking', 'error'])
  expect(lines.map(([, message]) => message)).toEqual([
    'A failed run could not be recorded: its thread is free when the lease ends',
  ])
})

it('tells nothing more of a run that has lost its thread, and of the one that has it what is due', async () => {
  const clock = manualClock()
  const store = memory()
  const [lost, heir] = [new Watcher(), new Watcher()]
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const options: CompileOptions = {
    store,
    clock: { ...clock, after: () => () => {} },
    logger: silent,
  }
  const slow = compile(
    steps(async () => void (await held)),
    { ...options, ...lost.both },
  )
  const frozen = failure(slow.run({ thread: 't1', input: {} }))
  while (lost.told.length === 0) await pause(1)
  clock.set('2026-03-01T09:00:00Z')
  const app = compile(
    steps(() => ({ said: 'mine' })),
    { ...options, ...heir.both },
  )
  expect((await app.tick()).recovered).toEqual(['t1'])
  goOn()
  expect(await frozen).toMatchObject({ code: 'lease_lost' })
  expect(lost.order).toEqual(['run_start', 'thinking', 'error'])
  expect(heir.order).toEqual(['run_start', 'thinking', 'run_end', 'idle'])
  const [second, first] = await all(app.runs('t1'))
  expect([first?.id, second?.id]).toEqual([lost.told[0]?.run, heir.told[0]?.run])
  expect(first).toMatchObject({ status: 'error', error: { code: 'lease_lost' } })
})

it.each(['monitor', 'presence'])(
  'refuses a %s that is none, before anything is stored',
  async (who) => {
    const app = compile(asking)
    const wrong = { thread: 't1', input: {}, [who]: {} }
    expect(await failure(app.run(wrong))).toBeInstanceOf(TypeError)
    expect(() => compile(asking, { [who]: {} })).toThrow(TypeError)
    expect(await app.state('t1')).toBeUndefined()
  },
)

const asking = steps(async (ctx) => ({ said: await ctx.interrupt('sure?') }))

type Line = readonly [level: string, message: string, data?: object]

function logging(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (message: string, data?: object): void =>
      void lines.push(data ? [level, message, data] : [level, message])
  return { lines, logger: { debug: at('debug'), warn: at('warn'), error: at('error') } }
}
