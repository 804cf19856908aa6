// B40: hooks of nodes that throw, never settle, or overlap; and B25, an abort reaches them.
import {
  compile,
  field,
  graph,
  memory,
  shortCircuit,
  type CompileOptions,
  type Hook,
  type NodeInvocation,
} from 'heddle'
import { describe, expect, it, test } from 'vitest'
import { timedFailure } from './abort-idle.ts'
import { gate } from '../fakes/gate.ts'
import {
  after,
  countedSignal,
  countingClock,
  everyWay,
  failure,
  keepBooks,
  rowsOf,
} from './harness.ts'
import { kept, never, one, type Run } from './hooks-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

describe('a hook before a node that fails', () => {
  for (const [way, fail] of [
    [
      'throws',
      (error: unknown) => () => {
        throw error
      },
    ],
    ['rejects', (error: unknown) => () => Promise.reject(error)],
  ] as const)
    everyWay(`and ${way} keeps the body from running, and its error is the run's`, async (open) => {
      const calls = { a: 0, told: [] as string[] }
      const error = new Error('secret')
      const { logger, lines } = kept()
      const watching = (name: string): Hook => ({
        name,
        onNodeError: (_, reason) => {
          calls.told.push(`${name} ${reason === error}`)
          return shortCircuit({ x: 5 })
        },
      })
      const bad = { ...watching('bad'), beforeNode: fail(error) as never }
      const hooks = [watching('h1'), watching('h2'), bad, watching('h4')]
      const retry = { attempts: 3, delay: 1 }
      const story = open(() => one(() => void calls.a++, { retry }), { hooks, logger })
      expect(await failure(story.start())).toBe(error)
      // Only a hook with a method before nodes is among those that were asked.
      expect(calls).toEqual({ a: 0, told: [] })
      expect(lines).toEqual([
        [
          'error',
          'A hook failed: beforeNode of hook "bad"',
          { method: 'beforeNode', error: 'Error' },
        ],
      ])
      const { status } = await story.snapshot()
      expect(status).toBe('error')
    })

  everyWay('has those before it told, last first, and none can make it good', async (open) => {
    const told: string[] = []
    const error = new Error('no')
    const watching = (name: string): Hook => ({
      name,
      beforeNode: () => void told.push(`before ${name}`),
      onNodeError: () => {
        told.push(`error ${name}`)
        return shortCircuit({ x: 5 })
      },
    })
    const bad: Hook = { beforeNode: () => Promise.reject(error) }
    const story = open(() => one(() => ({})), {
      hooks: [watching('a'), watching('b'), bad, watching('c')],
    })
    expect(await failure(story.start())).toBe(error)
    expect(told).toEqual(['before a', 'before b', 'error b', 'error a'])
  })

  everyWay('by giving back what is no verdict is told so', async (open) => {
    const calls = { a: 0 }
    const hook = { name: 'odd', beforeNode: () => ({ x: 1 }) as never }
    const story = open(() => one(() => void calls.a++), { hooks: [hook] })
    const error = await failure(story.start())
    expect(error).toMatchObject({ code: 'tool_usage_error' })
    expect(error.message).toContain('beforeNode of hook "odd"')
    expect(calls.a).toBe(0)
  })
})

describe('a hook after a node that fails', () => {
  everyWay("does not have the node run again, and its error is the run's", async (open) => {
    const calls = { a: 0, before: 0, error: 0 }
    let error: Error | undefined = new Error('no')
    const hooks: Hook[] = [
      {
        beforeNode: () => void calls.before++,
        afterNode: (_, update) => ({ x: (update as { x: number }).x + 1 }),
        onNodeError: () => void calls.error++,
      },
      {
        async afterNode() {
          if (error) throw error
        },
      },
    ]
    const retry = { attempts: 3, delay: 1 }
    const a: Run = () => ({ x: 10 * ++calls.a })
    const story = open(() => one(a, { retry }), { hooks })
    expect(await failure(story.start())).toBe(error)
    expect(await failure(story.goOn())).toBe(error)
    error = undefined
    expect((await story.goOn()).state).toMatchObject({ x: 11 })
    expect(calls).toEqual({ a: 1, before: 1, error: 0 })
  })

  it('leaves what its node did also to an app without that hook', async () => {
    const calls = { a: 0 }
    const store = memory()
    const made = (options: CompileOptions): ReturnType<typeof compile> =>
      compile(
        one(() => ({ x: ++calls.a })),
        { store, logger: silent, ...options },
      ) as never
    const error = new Error('no')
    const hook: Hook = { afterNode: () => Promise.reject(error) }
    expect(await failure(made({ hooks: [hook] }).run({ thread: 't', input: {} }))).toBe(error)
    expect(await made({}).run({ thread: 't' })).toMatchObject({ state: { x: 1 } })
    expect(calls.a).toBe(1)
  })

  it('that changes what does not fit fails with that', async () => {
    const hook: Hook = { afterNode: () => ({ nowhere: 1 }) }
    const app = compile(
      one(() => ({ x: 1 })),
      { hooks: [hook], logger: silent },
    )
    const error = await failure(app.run({ thread: 't', input: {} }))
    expect(error).toMatchObject({ code: 'schema_error', details: { field: 'nowhere' } })
  })
})

describe('a hook on an error that fails', () => {
  everyWay('never hides the first error, and is kept with it', async (open) => {
    const primary = new Error('primary')
    const another = new Error('secret')
    const { logger, lines } = kept()
    const told: unknown[] = []
    const hooks: Hook[] = [
      { onNodeError: (_, error) => void told.push(error) },
      { name: 'bad', onNodeError: () => Promise.reject(another) },
    ]
    const story = open(() => one(() => Promise.reject(primary)), { hooks, logger })
    expect(await failure(story.start())).toBe(primary)
    expect((primary as { suppressed?: unknown }).suppressed).toEqual([another])
    expect(told).toEqual([primary])
    expect(lines).toEqual([
      [
        'error',
        'A hook failed: onNodeError of hook "bad"',
        { method: 'onNodeError', error: 'Error' },
      ],
    ])
  })

  everyWay('by recovering with what does not fit, too', async (open) => {
    const primary = new Error('primary')
    const hook: Hook = { onNodeError: () => shortCircuit({ nowhere: 1 }) }
    const story = open(() => one(() => Promise.reject(primary)), { hooks: [hook] })
    expect(await failure(story.start())).toBe(primary)
    expect((primary as { suppressed?: unknown }).suppressed).toMatchObject([
      { code: 'schema_error' },
    ])
  })

  everyWay('a node that throws a frozen or plain value throws just that', async (open) => {
    for (const thrown of ['text', undefined, Object.freeze(new Error('frozen'))]) {
      const hook: Hook = { onNodeError: () => Promise.reject(new Error('another')) }
      const story = open(() => one(() => Promise.reject(thrown)), { hooks: [hook] })
      expect(await failure(story.start())).toBe(thrown)
    }
  })
})

test('hooks of nodes side by side are called once for each, with what is theirs', async () => {
  const seen: string[] = []
  const names = ['a', 'b', 'c']
  const hook: Hook = {
    async beforeNode({ node, ctx }) {
      await after(3)
      seen.push(`before ${node} ${ctx.node}`)
    },
    async afterNode({ node, ctx }, update) {
      await after(1)
      seen.push(`after ${node} ${ctx.node} ${Object.keys(update as object)[0]}`)
    },
  }
  const app = compile(
    graph({
      name: 'three',
      state: Object.fromEntries(names.map((name) => [name, field<number>(0)])),
      nodes: Object.fromEntries(names.map((name) => [name, () => ({ [name]: 1 })])),
      edges: { start: names, a: 'end', b: 'end', c: 'end' },
    } as never),
    { hooks: [hook] },
  )
  const { state } = await app.run({ thread: 't', input: {} })
  expect(state).toEqual({ a: 1, b: 1, c: 1 })
  expect(seen.toSorted()).toEqual([
    ...names.map((name) => `after ${name} ${name} ${name}`),
    ...names.map((name) => `before ${name} ${name}`),
  ])
})

describe('a hook that never settles', () => {
  const hanging: Readonly<Record<string, { readonly hook: Hook; readonly fails?: true }>> = {
    'before a node': { hook: { beforeNode: never } },
    'after a node': { hook: { afterNode: never } },
    'on its error': { hook: { onNodeError: never }, fails: true },
  }

  for (const [where, { hook, fails }] of Object.entries(hanging)) {
    const primary = new Error('primary')
    const body: Run = () => (fails ? Promise.reject(primary) : { x: 1 })

    it(`${where} is late by the node's timeout, and no timer is left`, async () => {
      const clock = countingClock()
      const app = compile(one(body, { timeout: 20 }), { hooks: [hook], clock, logger: silent })
      const { error, ms } = await timedFailure(app.run({ thread: 't', input: {} }))
      const late = fails ? (error as { suppressed?: unknown[] }).suppressed?.[0] : error
      expect(late).toMatchObject({ name: 'TimeoutError' })
      if (fails) expect(error).toBe(primary)
      expect(ms).toBeGreaterThanOrEqual(15)
      expect(clock.live()).toBe(0)
    })

    it(`${where} is left by an abort at once, and hears of it`, async () => {
      const clock = countingClock()
      const caller = countedSignal()
      const there = gate<unknown>()
      const heard: unknown[] = []
      const [method] = Object.keys(hook) as ['beforeNode']
      const listening: Hook = {
        [method]({ ctx }: NodeInvocation) {
          ctx.signal.addEventListener('abort', () => void heard.push(ctx.signal.reason))
          there.open(undefined)
          return never()
        },
      }
      const store = memory()
      const calls = { late: 0 }
      const behind: Hook = { [method]: () => void calls.late++ }
      const hooks = method === 'beforeNode' ? [listening, behind] : [behind, listening]
      const app = compile(one(body), { hooks, clock, logger: silent, store })
      const running = app.run({ thread: 't', input: {}, signal: caller.signal })
      const stopped = timedFailure(running)
      await there.promise
      const began = performance.now()
      const reason = new Error('stop')
      caller.abort(reason)
      expect((await stopped).error).toBe(reason)
      expect(performance.now() - began).toBeLessThan(1000)
      expect(heard).toEqual([reason])
      expect([clock.live(), caller.listeners(), calls.late]).toEqual([0, 0, 0])
      expect((await app.state('t'))?.status).toBe('cancelled')
    })
  }

  it('and settles after all when its run is over does nothing', async () => {
    const calls = { a: 0, behind: 0 }
    const held = gate<unknown>()
    const there = gate<unknown>()
    const store = memory()
    const hooks: Hook[] = [
      {
        beforeNode() {
          there.open(undefined)
          return held.promise as Promise<undefined>
        },
      },
      { beforeNode: () => void calls.behind++ },
    ]
    const app = compile(
      one(() => void calls.a++),
      { hooks, logger: silent, store },
    )
    const live = app.stream({ thread: 't', input: {} })
    await there.promise
    live.abort(new Error('stop'))
    await failure(live.outcome)
    const before = await rowsOf(store)
    held.open(shortCircuit({ x: 1 }))
    await after(10)
    expect(calls).toEqual({ a: 0, behind: 0 })
    expect(await rowsOf(store)).toEqual(before)
  })

  it('on the one side, a node beside it that fails ends the step', async () => {
    const error = new Error('beside')
    const hook: Hook = { beforeNode: ({ node }) => (node === 'a' ? never() : undefined) }
    const app = compile(
      graph({
        name: 'beside',
        state: {},
        nodes: { a: () => ({}), b: () => Promise.reject(error) },
        edges: { start: ['a', 'b'], a: 'end', b: 'end' },
      } as never),
      { hooks: [hook], logger: silent },
    )
    expect(await failure(app.run({ thread: 't', input: {} }))).toBe(error)
  })
})

describe('no error hook hears', () => {
  const told = (): { readonly hook: Hook; readonly errors: unknown[] } => {
    const errors: unknown[] = []
    return { hook: { onNodeError: (_, error) => void errors.push(error) }, errors }
  }

  it('of what a policy decided', async () => {
    const { BudgetExceeded } = await import('heddle')
    const { hook, errors } = told()
    const outcome = new BudgetExceeded('Cannot go on', { limit: 'calls', used: 2, allowed: 1 })
    const retry = { attempts: 3, delay: 1 }
    const calls = { a: 0 }
    const a: Run = () => {
      calls.a++
      throw outcome
    }
    const app = compile(one(a, { retry }), { hooks: [hook], logger: silent })
    expect(await failure(app.run({ thread: 't', input: {} }))).toBe(outcome)
    expect(errors).toEqual([])
    expect(calls.a).toBe(1)
  })

  it('of an abort, while a node runs or between its attempts', async () => {
    for (const a of [
      (() => never()) as Run,
      (async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        throw ctx.signal.reason
      }) as Run,
      (() => Promise.reject(new Error('again'))) as Run,
    ]) {
      const { hook, errors } = told()
      const clock = countingClock()
      const retry = { attempts: 3, delay: 5000 }
      const app = compile(one(a, { retry }), { hooks: [hook], clock, logger: silent })
      const live = app.stream({ thread: 't', input: {} })
      await live.id
      await after(20)
      const reason = new Error('stop')
      live.abort(reason)
      expect(await failure(live.outcome)).toBe(reason)
      expect(errors).toEqual([])
      expect(clock.live()).toBe(0)
    }
  })

  it('of an abort of its own that a node reports, or of a store that is gone', async () => {
    const { hook, errors } = told()
    const aborted = new DOMException('aborted', 'AbortError')
    const app = compile(
      one(() => Promise.reject(aborted)),
      { hooks: [hook], logger: silent },
    )
    expect(await failure(app.run({ thread: 't', input: {} }))).toBe(aborted)
    const store = memory()
    const gone = new Error('gone')
    let commits = 0
    const failing = {
      ...store,
      commit: (batch: never) => (++commits > 2 ? Promise.reject(gone) : store.commit(batch)),
    }
    const stored = compile(
      one(async (_, ctx) => ctx.once('work', () => 1)),
      {
        hooks: [hook],
        logger: silent,
        store: failing,
      },
    )
    await failure(stored.run({ thread: 't', input: {} }))
    expect(errors).toEqual([])
  })
})
