// B06: user code can neither catch a pause nor lose it. Tools, hooks and models, which must not see one as an error
// either, come with later issues.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { field, graph, type Context } from 'heddle'
import { after, everyWay, keepBooks } from './harness.ts'

keepBooks()

type Ask = (ctx: Context) => Promise<unknown>

const inChild = (ctx: Context): Promise<unknown> =>
  ctx
    .child(
      node(async (inner) => inner.interrupt('ok?'), { node: 0, after: 0 }),
      {},
    )
    .then((state) => (state as { out: unknown }).out)
const plainly = (ctx: Context): Promise<unknown> => ctx.interrupt('ok?')
const byKey = (ctx: Context): Promise<unknown> => ctx.interrupt('ok?', { key: 'ok' })

for (const [how, ask] of Object.entries({ plainly, byKey, inChild })) {
  const WRAPPERS: Readonly<Record<string, Ask>> = {
    'try and catch': async (ctx) => {
      try {
        return `ran:${await ask(ctx)}`
      } catch {
        return 'swallowed'
      }
    },
    'catch on the promise': (ctx) =>
      ask(ctx).then(
        (ok) => `ran:${ok}`,
        () => 'swallowed',
      ),
    'a promise of its own': async (ctx) =>
      `ran:${await new Promise((resolve, reject) => void ask(ctx).then(resolve, reject))}`,
    'a race with a timer': async (ctx) => {
      const first = await Promise.race([ask(ctx), after(10, 'late')])
      return `ran:${first}`
    },
    'a race with a timer, answered later': async (ctx) =>
      `ran:${await Promise.race([after(10).then(() => ask(ctx)), after(10_000, 'late')])}`,
    allSettled: async (ctx) => {
      const [settled] = await Promise.allSettled([ask(ctx), Promise.reject(new Error('beside'))])
      return `ran:${settled?.status === 'fulfilled' ? settled.value : 'swallowed'}`
    },
    any: async (ctx) => `ran:${await Promise.any([ask(ctx), Promise.reject(new Error('beside'))])}`,
    'a helper that retries': async (ctx) => {
      for (let attempt = 1; attempt < 3; attempt++) {
        try {
          return `ran:${await ask(ctx)}`
        } catch {
          await after(1)
        }
      }
      return 'swallowed'
    },
  }
  describe(`asked ${how}`, () => {
    for (const [wrapper, wrapped] of Object.entries(WRAPPERS)) {
      everyWay(`a pause gets through ${wrapper}`, async (open) => {
        const calls = { node: 0, after: 0 }
        const story = open(() => node(wrapped, calls))
        const asked = await story.start()
        expect(asked).toMatchObject({
          status: 'interrupted',
          open: [{ payload: 'ok?' }],
          state: {},
        })
        expect(asked.events.filter(({ kind }) => kind === 'node_start')).toHaveLength(1)
        expect(calls).toEqual({ node: 1, after: 0 })
        const ended = await story.answerOne(true)
        expect(ended).toMatchObject({ status: 'success', state: { out: 'ran:true' } })
        expect(calls).toEqual({ node: 2, after: 1 })
        expect(story.events('interrupt')).toHaveLength(1)
      })
    }
  })
}

// The promise of a pause never settles, so a `finally` runs once, when the node goes on.
everyWay('finally doesn’t run on a pause', async (open) => {
  const log: string[] = []
  const story = open(() =>
    node(
      async (ctx) => {
        try {
          return `ran:${await ctx.interrupt('ok?')}`
        } finally {
          log.push('f')
        }
      },
      { node: 0, after: 0 },
    ),
  )
  await story.start()
  expect(log).toEqual([])
  await story.answerOne(true)
  expect(log).toEqual(['f'])
})

everyWay('a pause has no attempt left to retry, and no timeout', async (open) => {
  const calls = { node: 0, after: 0 }
  const settings = { timeout: 30, retry: { attempts: 3, delay: 1 } }
  const story = open(() => node(plainly, calls, settings))
  const asked = await story.start()
  await after(60)
  expect(asked.status).toBe('interrupted')
  expect((await story.snapshot()).status).toBe('interrupted')
  expect(calls).toEqual({ node: 1, after: 0 })
  expect((await story.answerOne(true)).status).toBe('success')
})

everyWay('what a paused node still does has no effect', async (open) => {
  const done: string[] = []
  const calls = { node: 0, after: 0 }
  const story = open(() =>
    node(async (ctx) => {
      const asked = ctx.interrupt('ok?')
      const first = await Promise.race([asked, after(10, 'late')])
      // From here on the first pass is a node that has paused; the second has its answer.
      await ctx.emit('emitted' as never)
      const paid = ctx.once('pay', () => done.push('paid'))
      const child = ctx.child(
        node(async () => done.push('child'), { node: 0, after: 0 }),
        {},
      )
      const again = ctx.interrupt('sure?')
      return first === 'late' ? 'late' : [first, await paid, await child, await again]
    }, calls),
  )
  await story.start()
  const before = await story.rows()
  await after(40)
  expect(done).toEqual([])
  expect(await story.rows()).toEqual(before)
  expect(story.passes[0]?.filter(({ kind }) => kind === 'backend')).toEqual([])
  const sure = await story.answerOne('yes')
  expect(sure.open).toMatchObject([{ payload: 'sure?' }])
  const ended = await story.answerOne('very')
  expect(ended.state['out']).toMatchObject(['yes', 1, { out: 2 }, 'very'])
  expect(done).toEqual(['paid', 'child'])
})

test('a paused node keeps no process alive', async () => {
  const program = fileURLToPath(new URL('programs/pause.ts', import.meta.url))
  const run = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [run, program], {
    timeout: 20_000,
  })
  const { status, lingered } = JSON.parse(stdout) as { status: string; lingered: number }
  expect(status).toBe('interrupted')
  expect(lingered).toBeLessThan(1_000)
})

function node(ask: Ask, calls: { node: number; after: number }, settings: object = {}) {
  return graph({
    name: 'node',
    state: { out: field<unknown>(undefined) },
    nodes: {
      node: {
        ...settings,
        async run(_, ctx) {
          calls.node++
          return { out: await ask(ctx) }
        },
      },
      after: () => void calls.after++,
    },
    edges: { start: 'node', node: 'after', after: 'end' },
  })
}
