// Hooks around nodes: their order, what they may decide, and what they see when a node is entered again (B06, B40.6, B40.7).
import {
  field,
  goto,
  graph,
  shortCircuit,
  subgraph,
  type Graph,
  type Hook,
  type NodeInvocation,
  type Schema,
} from 'heddle'
import { describe, expect } from 'vitest'
import { eachWay, everyWay, failure, keepBooks } from './harness.ts'
import { scribe, two, type Run } from './hooks-parts.ts'

keepBooks()

everyWay('hooks go around a node, and the later ones inside the earlier', async (open) => {
  const seen: string[] = []
  const hooks = [scribe('h1', seen), {}, scribe('h2', seen)]
  const story = open(() => two(() => (seen.push('body'), { x: 1 })), { hooks })
  expect((await story.start()).state).toMatchObject({ x: 1 })
  expect(seen.slice(0, 5)).toEqual([
    'h1 before a',
    'h2 before a',
    'body',
    'h2 after a',
    'h1 after a',
  ])
  expect(seen).toHaveLength(9)
})

everyWay('a paused node is asked about again when it is entered again', async (open) => {
  const seen: string[] = []
  const a: Run = async (_, ctx) => {
    seen.push('body')
    return { x: (await ctx.interrupt('how many?')) as number }
  }
  const story = open(() => two(a), { hooks: [scribe('h', seen)] })
  expect((await story.start()).open).toHaveLength(1)
  expect(seen).toEqual(['h before a', 'body'])
  expect((await story.answerOne(5)).state).toMatchObject({ x: 5 })
  expect(seen.slice(2, 5)).toEqual(['h before a', 'body', 'h after a'])
  expect(seen.filter((line) => line.includes('error'))).toEqual([])
})

everyWay('the invocation says what runs, and what a hook does to it harms nobody', async (open) => {
  const seen: NodeInvocation[] = []
  const places: unknown[] = []
  const read: unknown[] = []
  const hook: Hook = {
    beforeNode(inv) {
      seen.push(inv)
      const { thread, run, step, node, ns } = inv.ctx
      places.push([thread, run, step, node, ns])
      expect(Object.isFrozen(inv)).toBe(true)
      expect(() => Object.assign(inv, { node: 'other' })).toThrow(TypeError)
      ;(inv.state['list'] as number[])?.push(99)
      expect(() => Object.assign(inv.state, { more: 1 })).toThrow(TypeError)
    },
    afterNode(inv, update) {
      expect(inv).toBe(seen.at(-1))
      ;(update as { list?: number[] }).list?.push(98)
    },
  }
  const a: Run = ({ list }) => (read.push([...list]), { list: [7] })
  const b: Run = ({ list }) => void read.push([...list])
  const story = open(() => two(a, b), { hooks: [hook] })
  const { state, outcome } = await story.start({ list: [1] })
  expect(read).toEqual([[1], [7]])
  expect(state).toMatchObject({ list: [7] })
  expect(seen.map(({ flow, node, state: { list } }) => [flow, node, list])).toEqual([
    ['two', 'a', [1, 99]],
    ['two', 'b', [7, 99]],
  ])
  expect(places[0]).toEqual(['t1', outcome.run, 1, 'a', []])
  expect(JSON.parse(JSON.stringify(seen[0]!.state))).toEqual({ x: 0, list: [1, 99] })
})

describe('a short circuit before a node', () => {
  everyWay('is its update, and the hooks after it see it', async (open) => {
    const calls = { a: 0, after: [] as unknown[] }
    const hooks: Hook[] = [
      { beforeNode: ({ node }) => (node === 'a' ? shortCircuit({ x: 9 }) : undefined) },
      { beforeNode: ({ node }) => void expect(node).toBe('b') },
      { afterNode: ({ node }, update) => void (node === 'a' && calls.after.push(update)) },
    ]
    const story = open(() => two(() => void calls.a++), { hooks })
    const { state, events } = await story.start()
    expect(state).toMatchObject({ x: 9 })
    expect(calls).toEqual({ a: 0, after: [{ x: 9 }] })
    const told = events.filter((event) => 'node' in event && event.node === 'a')
    expect(told.map(({ kind }) => kind)).toEqual(['node_start', 'node_end'])
  })

  everyWay('may be nothing, or lead elsewhere', async (open) => {
    for (const [value, ran] of [
      [undefined, ['b']],
      [null, ['b']],
      [goto('end', { x: 3 }), []],
    ] as const) {
      const seen: string[] = []
      const hook: Hook = {
        beforeNode: ({ node }) => (node === 'a' ? shortCircuit(value) : undefined),
      }
      const b: Run = () => void seen.push('b')
      const story = open(() => two(() => expect.unreachable(), b), { hooks: [hook] })
      expect((await story.start()).state).toMatchObject({ x: value ? 3 : 0 })
      expect(seen).toEqual(ran)
    }
  })

  everyWay('that does not fit fails the node', async (open) => {
    const hook: Hook = { beforeNode: () => shortCircuit({ nowhere: 1 }) }
    const story = open(() => two(() => ({})), { hooks: [hook] })
    expect(await failure(story.start())).toMatchObject({
      code: 'schema_error',
      details: { node: 'a', field: 'nowhere' },
    })
    expect((await story.snapshot()).status).toBe('error')
  })
})

describe('a hook after a node', () => {
  everyWay('sees what was accepted, and may put something else in its place', async (open) => {
    const seen: unknown[] = []
    const hooks: Hook[] = [
      { afterNode: ({ node }, update) => void (node === 'a' && seen.push(update)) },
      { afterNode: ({ node }) => (node === 'a' ? { x: 2 } : undefined) },
      { afterNode: ({ node }, update) => void (node === 'a' && seen.push(update)) },
    ]
    const story = open(() => two(() => ({ x: 1, list: [1] })), { hooks })
    expect((await story.start()).state).toEqual({ x: 2, list: [] })
    expect(seen).toEqual([{ x: 1, list: [1] }, { x: 2 }])
  })

  everyWay('may take the update away by null, and keeps where a goto leads', async (open) => {
    const calls = { b: 0 }
    const hook: Hook = { afterNode: ({ node }) => (node === 'a' ? null : undefined) }
    const story = open(
      () =>
        two(
          () => goto('end', { x: 1 }),
          () => void calls.b++,
        ),
      { hooks: [hook] },
    )
    expect((await story.start()).state).toMatchObject({ x: 0 })
    expect(calls.b).toBe(0)
  })

  everyWay('may lead elsewhere itself', async (open) => {
    const calls = { b: 0 }
    const hook: Hook = { afterNode: () => goto('end', { x: 4 }) }
    const story = open(
      () =>
        two(
          () => ({ x: 1 }),
          () => void calls.b++,
        ),
      { hooks: [hook] },
    )
    expect((await story.start()).state).toMatchObject({ x: 4 })
    expect(calls.b).toBe(0)
  })

  everyWay('gets a validated update, which is not validated again', async (open) => {
    // It takes texts and gives numbers, and would refuse those.
    const length: Schema<string | undefined, number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) =>
          typeof value === 'number'
            ? { issues: [{ message: 'a number already' }] }
            : { value: ((value as string | undefined) ?? '').length },
      },
    }
    const seen: unknown[] = []
    const make = (): Graph =>
      graph({
        name: 'texts',
        state: { n: length },
        nodes: { a: () => ({ n: 'four' }) },
        edges: { start: 'a', a: 'end' },
      } as never)
    const hook: Hook = { afterNode: (_, update) => void seen.push(update) }
    const story = open(make, { hooks: [hook] })
    expect((await story.start()).state).toEqual({ n: 4 })
    expect(seen).toEqual([{ n: 4 }])
  })
})

describe('a hook on the error of a node', () => {
  everyWay('is told once its attempts are used up, and may recover from it', async (open) => {
    const calls = { a: 0, told: [] as unknown[], after: 0 }
    const error = new Error('no')
    const hooks: Hook[] = [
      { onNodeError: () => expect.unreachable() },
      { onNodeError: (_, one) => (calls.told.push(one), shortCircuit({ x: 8 })) },
      { onNodeError: (_, one) => void calls.told.push(one) },
      { afterNode: ({ node }) => void (node === 'a' && calls.after++) },
    ]
    const a: Run = () => {
      calls.a++
      throw error
    }
    const retry = { attempts: 3, delay: 1 }
    const story = open(() => two(a, undefined, { retry }), { hooks })
    expect((await story.start()).state).toMatchObject({ x: 8 })
    expect(calls).toEqual({ a: 3, told: [error, error], after: 0 })
  })

  everyWay('is told of an update that does not fit', async (open) => {
    const told: unknown[] = []
    const hook: Hook = {
      onNodeError(_, error) {
        told.push((error as { code: string }).code)
        return shortCircuit({ x: 1 })
      },
    }
    const story = open(() => two(() => goto('end', { nowhere: 1 } as never)), { hooks: [hook] })
    expect((await story.start()).state).toMatchObject({ x: 1 })
    expect(told).toEqual(['schema_error'])
    // What the refused update led to is as refused.
    expect(story.events('node_end').map(({ node }) => node)).toEqual(['a', 'b'])
  })

  everyWay('may run child graphs and stored work, though its node has stopped', async (open) => {
    const calls = { once: 0 }
    const hook: Hook = {
      async onNodeError(inv) {
        expect(inv.ctx.signal.aborted).toBe(false)
        const n = await inv.ctx.once('undo', () => ++calls.once)
        const { y } = (await inv.ctx.child(inner(), {})) as { y: number }
        return shortCircuit({ x: n + y })
      },
    }
    const a: Run = () => Promise.reject(new Error('no'))
    const story = open(() => two(a), { hooks: [hook] })
    expect((await story.start()).state).toMatchObject({ x: 11 })
    expect(calls.once).toBe(1)
  })
})

const inner = (seen: string[] = []): Graph =>
  graph({
    name: 'inner',
    state: { y: field<number>(0) },
    nodes: { one: () => (seen.push('one'), { y: 10 }) },
    edges: { start: 'one', one: 'end' },
  } as never)

everyWay('nodes of child graphs are nodes like any other', async (open) => {
  const seen: string[] = []
  const hook: Hook = {
    beforeNode: ({ flow, node, ctx }) => void seen.push(`${flow}/${node} in ${ctx.ns.join('/')}`),
    afterNode: ({ flow }, update) =>
      flow === 'inner' ? { y: (update as { y: number }).y + 1 } : undefined,
  }
  const make = (): Graph =>
    graph({
      name: 'outer',
      state: { x: field<number>(0) },
      nodes: {
        sub: subgraph(inner(), { input: () => ({}), output: ({ y }) => ({ x: y as number }) }),
      },
      edges: { start: 'sub', sub: 'end' },
    } as never)
  expect((await open(make, { hooks: [hook] }).start()).state).toEqual({ x: 11 })
  expect(seen).toEqual(['outer/sub in ', 'inner/one in sub'])
})

describe('a hook that pauses', () => {
  everyWay('before a node keeps its answer apart from those of the node', async (open) => {
    const calls = { a: 0, failed: false }
    const hook: Hook = {
      async beforeNode({ node, ctx }) {
        if (node === 'a' && !(await ctx.interrupt('may it?'))) return shortCircuit({ x: -1 })
      },
    }
    const a: Run = async (_, ctx) => {
      calls.a++
      const x = (await ctx.interrupt('how many?')) as number
      // The next attempt asks the same.
      if (!calls.failed) {
        calls.failed = true
        throw new Error('once')
      }
      return { x }
    }
    const retry = { attempts: 2, delay: 1 }
    const story = open(() => two(a, undefined, { retry }), { hooks: [hook] })
    expect((await story.start()).open).toMatchObject([{ payload: 'may it?' }])
    expect((await story.answerOne(true)).open).toMatchObject([{ payload: 'how many?' }])
    expect((await story.answerOne(6)).state).toMatchObject({ x: 6 })
    expect(calls).toEqual({ a: 3, failed: true })
    expect(story.events('interrupt')).toHaveLength(2)
  })

  everyWay('after a node does not have it run again', async (open) => {
    const calls = { a: 0 }
    const hook: Hook = {
      async afterNode({ node, ctx }, update) {
        if (node !== 'a') return undefined
        await ctx.sleep(0)
        return { x: ((await ctx.interrupt('sure?')) as number) + (update as { x: number }).x }
      },
    }
    const a: Run = async (_, ctx) => {
      calls.a++
      await ctx.sleep(0)
      return { x: (await ctx.interrupt('sure?')) as number, list: [calls.a] }
    }
    const story = open(() => two(a), { hooks: [hook] })
    expect((await story.start()).open).toHaveLength(1)
    expect((await story.answerOne(10)).open).toMatchObject([{ payload: 'sure?' }])
    expect(calls.a).toBe(2)
    expect((await story.answerOne(5)).state).toMatchObject({ x: 15 })
    expect(calls.a).toBe(2)
    expect(story.events('interrupt')).toHaveLength(2)
  })
})

eachWay(
  'a question in a node is no error to any hook, whatever the node makes of it',
  async (open) => {
    const seen: string[] = []
    const a: Run = async (_, ctx) => {
      try {
        return { x: (await ctx.interrupt('ok?')) as number }
      } catch {
        return { x: -1 }
      }
    }
    const retry = { attempts: 3, delay: 1 }
    const story = open(() => two(a, undefined, { retry, timeout: 10_000 }), {
      hooks: [scribe('h', seen)],
    })
    const asked = await story.start()
    expect(asked.status).toBe('interrupted')
    expect(asked.events.filter(({ kind }) => kind === 'node_start')).toHaveLength(1)
    expect(seen).toEqual(['h before a'])
    expect((await story.answerOne(1)).state).toMatchObject({ x: 1 })
    expect(seen.filter((line) => line.includes('error'))).toEqual([])
  },
)

describe('hooks of a request', () => {
  everyWay('come after those of the app, for its run only', async (open) => {
    const seen: string[] = []
    const told: unknown[] = []
    const own: Hook = { ...scribe('own', seen), onEvent: ({ event }) => void told.push(event) }
    const a: Run = async (_, ctx) => {
      void ctx.emit('seen')
      return { x: (await ctx.interrupt('how many?')) as number }
    }
    const story = open(() => two(a), { hooks: [scribe('app', seen)] })
    await story.start({}, { hooks: [own] })
    expect(seen).toEqual(['app before a', 'own before a'])
    expect(told).toEqual(['seen'])
    await story.answerOne(1)
    expect(seen.slice(2, 4)).toEqual(['app before a', 'app after a'])
    expect(seen.filter((line) => line.startsWith('own'))).toHaveLength(1)
    expect(told).toEqual(['seen'])
  })

  everyWay('that make no sense are refused like the rest of it', async (open) => {
    const story = open(() => two(() => ({})))
    for (const hooks of [{}, [null], [{ beforeNodes() {} }]]) {
      const error = await failure(story.start({}, { hooks }))
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(/^Cannot run: /)
    }
    expect(await story.rows()).toEqual([])
  })
})
