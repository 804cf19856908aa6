// What a task leaves that doesn't finish: when it counts, and when it doesn't.
import {
  append,
  field,
  graph,
  memory,
  reduced,
  shortCircuit,
  type Context,
  type Graph,
  type Hook,
  type Schema,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { leave } from '../../src/engine/leave.ts'
import { INSIDE } from '../../src/hook/mark.ts'
import type { NodeInside } from '../../src/tool/inside.ts'
import { all, everyWay, failure, keepBooks, rowsOf, Story } from './harness.ts'
import { fits } from './portable.ts'

keepBooks()

const put = (ctx: Context, ...log: unknown[]): void => left(ctx, { log })

function left(ctx: Context, update: Readonly<Record<string, unknown>>): void {
  const { calls } = (ctx as unknown as { readonly [INSIDE]: NodeInside })[INSIDE]
  leave(calls.execution, update)
}

type Work = (ctx: Context) => unknown

const texts = reduced(field<unknown[]>([]), append)

/** One node that does this, and returns its log. */
const does =
  (work: Work, more: object = {}): (() => Graph) =>
  () =>
    graph({
      name: 'does',
      state: { log: texts, plain: field<string>('') },
      nodes: { work: { ...more, run: async (_, ctx) => ({ log: [await work(ctx)] }) } },
      edges: { start: 'work', work: 'end' },
    })

/** Waits until it is told to stop, leaves that, and fails with the reason. */
const untilStopped = (ctx: Context, text: string): Promise<never> =>
  new Promise((_, reject) => {
    ctx.signal.addEventListener('abort', () => {
      put(ctx, text)
      reject(ctx.signal.reason as Error)
    })
  })

describe('what a task leaves', () => {
  everyWay('is in the state after a failure, for the next turn and for going on', async (open) => {
    let broken = true
    const seen: unknown[] = []
    const story = open(
      does((ctx) => {
        seen.push(ctx.task)
        if (!broken) return 'whole'
        put(ctx, 'a')
        put(ctx, 'b', 'c')
        throw new Error('broken')
      }),
    )
    expect(await failure(story.start({ log: ['start'] }))).toMatchObject({ message: 'broken' })
    const { status, state, source, next, checkpoint, parent } = await story.snapshot()
    expect({ status, state, source, next }).toEqual({
      status: 'error',
      state: { log: ['start', 'a', 'b', 'c'], plain: '' },
      source: 'update',
      next: ['work'],
    })
    expect((await story.history()).map((one) => one.checkpoint)).toEqual([checkpoint, parent])
    broken = false
    const { state: after } = await story.goOn()
    expect(after['log']).toEqual(['start', 'a', 'b', 'c', 'whole'])
    expect(new Set(seen).size).toBe(1)
    broken = true
    await failure(story.start({ log: ['again'] }))
    broken = false
    const turn = await story.start({ log: ['and now?'] })
    expect(turn.state['log']).toEqual([
      ...['start', 'a', 'b', 'c', 'whole', 'again', 'a', 'b', 'c', 'and now?', 'whole'],
    ])
  })

  everyWay('is in the state after an abort, left while the signal told of it', async (open) => {
    let enter = (): void => {}
    const entered = new Promise<void>((resolve) => (enter = resolve))
    const story = open(
      does((ctx) => {
        enter()
        return untilStopped(ctx, 'so far')
      }),
    )
    const controller = new AbortController()
    const run = failure(story.start({}, { signal: controller.signal }))
    await entered
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await run).toBe(reason)
    expect(await story.snapshot()).toMatchObject({
      status: 'cancelled',
      state: { log: ['so far'] },
      next: ['work'],
    })
  })

  it('is in the state after a cancel, and after the node took too long', async () => {
    for (const [more, status] of [
      [{}, 'cancelled'],
      [{ timeout: 1_000 }, 'error'],
    ] as const) {
      const clock = manualClock()
      let entered = (): void => {}
      const inside = new Promise<void>((resolve) => (entered = resolve))
      const make = does((ctx) => {
        entered()
        return untilStopped(ctx, 'so far')
      }, more)
      const story = new Story(make, 'in process', { clock })
      const run = failure(story.start())
      await inside
      if (status === 'cancelled') await story.app.cancel('t1')
      else await clock.advance(1_000)
      await run
      expect(await story.snapshot()).toMatchObject({ status, state: { log: ['so far'] } })
    }
  })

  it('counts for a node with hooks around it too, unless one of them heals the failure', async () => {
    const heals: Hook = { onNodeError: () => shortCircuit({ log: ['healed'] }) }
    const looks: Hook = { onNodeError: () => undefined }
    for (const [hook, log] of [
      [heals, ['healed']],
      [looks, ['so far']],
    ] as const) {
      const make = does((ctx) => {
        put(ctx, 'so far')
        throw new Error('broken')
      })
      const story = new Story(make, 'in process', { hooks: [hook] })
      await story.start().catch(() => {})
      expect((await story.snapshot()).state['log']).toEqual(log)
    }
  })

  it('gives way to what another attempt leaves, and to a result', async () => {
    let tries = 0
    const make = does(
      (ctx) => {
        tries++
        if (tries === 4) return 'whole'
        put(ctx, `try ${tries}`)
        throw new Error('broken')
      },
      { retry: { attempts: 2, delay: 1 } },
    )
    const story = new Story(make, 'in process')
    await failure(story.start())
    expect((await story.snapshot()).state['log']).toEqual(['try 2'])
    expect((await story.goOn()).state['log']).toEqual(['try 2', 'whole'])
  })

  it('gives way to a result beside a task that fails', async () => {
    let broken = true
    let tries = 0
    let landed = (): void => {}
    const result = new Promise<void>((resolve) => (landed = resolve))
    const make = (): Graph =>
      graph({
        name: 'two',
        state: { log: texts },
        nodes: {
          work: {
            retry: { attempts: 2, delay: 1 },
            run(_, ctx) {
              if (++tries === 2) {
                setTimeout(landed, 1)
                return { log: ['whole'] }
              }
              put(ctx, 'so far')
              throw new Error('broken')
            },
          },
          async beside() {
            await result
            if (broken) throw new Error('broken too')
            return { log: ['beside'] }
          },
        },
        edges: { start: ['work', 'beside'], work: 'end', beside: 'end' },
      })
    const story = new Story(make, 'in process')
    expect(await failure(story.start())).toMatchObject({ message: 'broken too' })
    expect((await story.snapshot()).state['log']).toEqual([])
    broken = false
    expect((await story.goOn()).state['log']).toEqual(['whole', 'beside'])
    expect(tries).toBe(2)
  })

  everyWay('is nothing beside a question that is open again', async (open) => {
    const number = fits((value) => typeof value === 'number', 'Expected a number')
    const story = open(
      does(async (ctx) => {
        if (story.passes.length > 1) put(ctx, 'so far')
        return ctx.interrupt('?', { schema: number as Schema<unknown, unknown> })
      }),
    )
    await story.start()
    await failure(story.answerOne('no number'))
    const { status, state } = await story.snapshot()
    expect({ status, state }).toEqual({ status: 'interrupted', state: { log: [], plain: '' } })
    expect((await story.answerOne(3)).state['log']).toEqual([3])
  })

  it('costs nothing where nothing was left', async () => {
    const [some, none] = await Promise.all(
      [true, false].map(async (puts) => {
        const store = memory()
        const make = does((ctx) => {
          if (puts) put(ctx, ...[])
          throw new Error('broken')
        })
        const story = new Story(make, 'in process', { store })
        await failure(story.start())
        expect(await all(story.app.history('t1'))).toHaveLength(1)
        return (await rowsOf(store)).length
      }),
    )
    expect(some).toBe(none)
  })
})

describe('what can not be left is refused at the call', () => {
  it.each([
    ['a field that is no list', { plain: 'x' }, { name: 'TypeError' }],
    ['a field that is none', { other: [] }, { code: 'schema_error' }],
    ['no list', { log: 'x' }, { code: 'schema_error' }],
    ['a value that can not be stored', { log: [() => 1] }, { code: 'unserializable_value' }],
  ])('%s', async (_, update, error) => {
    let thrown: unknown
    const make = does((ctx) => {
      try {
        left(ctx, update)
      } catch (refusal) {
        thrown = refusal
      }
      put(ctx, 'so far')
      throw new Error('broken')
    })
    const story = new Story(make, 'in process')
    await failure(story.start())
    expect(thrown).toMatchObject(error)
    expect((await story.snapshot()).state).toEqual({ log: ['so far'], plain: '' })
  })
})
