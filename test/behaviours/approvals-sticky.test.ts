// What is to be remembered stands for the tool in the rest of the thread: after a crash, a reload and a move, on the line on
// which it was decided, and on no other.
import {
  append,
  field,
  graph,
  memory,
  reduced,
  compile,
  type CompiledGraph,
  type Graph,
} from 'heddle'
import { describe, expect, test } from 'vitest'
import { desk, Effects } from './approvals-parts.ts'
import { all, eachWay, everyWay, keepBooks } from './harness.ts'

keepBooks()

describe('a decision that is to be remembered', () => {
  everyWay('holds for later calls of the tool, and for no other tool', async (open) => {
    const effects = new Effects()
    const story = open(() => turns(), { tools: desk(effects) })
    await story.start({ calls: ['send 1'] })
    await story.answerOne({ approve: true, remember: true }, { user: 'ann' })
    expect((await story.start({ calls: ['send 2', 'send 3'] })).status).toBe('success')
    expect(effects.ran.map(([, n]) => n).toSorted()).toEqual([1, 2, 3])
    const now = await story.start({ calls: ['drop 4', 'send 5'] })
    expect(now.open.map(({ payload }) => payload)).toMatchObject([{ tool: 'drop' }])
    await story.answerOne({ approve: false, remember: true, reason: 'never' }, { user: 'bob' })
    const { state } = await story.start({ calls: ['drop 6', 'send 7'] })
    expect(state['said']).toEqual([
      ...['send 1 success', 'send 2 success', 'send 3 success', 'drop 4 denied', 'send 5 success'],
      ...['drop 6 denied', 'send 7 success'],
    ])
    expect(effects.counts).toEqual({ read: 0, send: 5, drop: 0 })
  })

  eachWay('each use of it is on record, with who decided, and when', async (open) => {
    const story = open(() => turns(), { tools: desk(new Effects()) })
    await story.start({ calls: ['send 1'] })
    await story.answerOne({ approve: true, remember: true, args: { n: 9 } }, { user: 'ann' })
    await story.start({ calls: ['send 2'] })
    const answered = await story.app.interruptions({ thread: 't1', status: 'answered' })
    const [first, second] = answered
    expect(answered.length).toBe(2)
    expect(first).toMatchObject({
      answer: { approve: true, remember: true, args: { n: 9 } },
      answeredBy: 'ann',
    })
    // What she edited was meant for the first call.
    expect(second).toMatchObject({
      key: 'approval',
      node: 'go',
      payload: { id: second!.id, tool: 'send', args: { n: 2 } },
      answeredBy: 'ann',
      answeredAt: first!.answeredAt,
    })
    expect(second!.answer).toEqual({ approve: true, remember: true })
    expect(story.events('interrupt').length).toBe(1)
    expect((await all(story.app.runs('t1'))).length).toBe(3)
  })

  everyWay('is beaten by what was said of the very call', async (open) => {
    const effects = new Effects()
    const story = open(() => turns(), { tools: desk(effects) })
    const { open: asked } = await story.start({ calls: ['send 1', 'send 2', 'send 3'] })
    const id = (n: number): string =>
      asked.find(({ payload }) => (payload as { args: { n: number } }).args.n === n)!.id
    const now = await story.answer({
      [id(1)]: { approve: true, remember: true },
      [id(2)]: { approve: false, reason: 'not this one' },
    })
    // What was asked before waits for its own answer.
    expect(now.open.map((one) => one.id)).toEqual([id(3)])
    const { state } = await story.answerOne({ approve: false })
    expect(state['said']).toEqual(['send 1 success', 'send 2 denied', 'send 3 denied'])
    expect(effects.ran).toEqual([['send', 1]])
    const later = await story.start({ calls: ['send 4'] })
    expect(later.state['said']).toContain('send 4 success')
  })

  eachWay('goes with the thread to another store', async (open) => {
    const effects = new Effects()
    const story = open(() => turns(), { tools: desk(effects) })
    await story.start({ calls: ['send 1'] })
    await story.answerOne({ approve: true, remember: true })
    const there = compile(turns(), { store: memory(), tools: desk(effects) })
    await there.importThread(await story.app.exportThread('t1'))
    const moved = await there.run({ thread: 't1', input: { calls: ['send 2'] } })
    expect(moved.status).toBe('success')
    const answered = await there.interruptions({ thread: 't1', status: 'answered' })
    expect(answered.map(({ payload }) => (payload as { args: unknown }).args)).toEqual([
      { n: 1 },
      { n: 2 },
    ])
    const elsewhere = await there.run({ thread: 't2', input: { calls: ['send 3'] } })
    expect(elsewhere.status).toBe('interrupted')
  })
})

describe('on another line', () => {
  /** A thread with an approval that is remembered, and the checkpoints before and after it. */
  async function decided(app: CompiledGraph): Promise<{ before: string; after: string }> {
    await app.run({ thread: 't1', input: { calls: ['read 0'] } })
    const before = (await app.state('t1'))!.checkpoint
    await app.run({ thread: 't1', input: { calls: ['send 1'] } })
    await app.run({ thread: 't1', answer: { approve: true, remember: true }, user: 'ann' })
    const after = (await app.state('t1'))!.checkpoint
    return { before, after }
  }
  const apps: Readonly<Record<string, () => () => CompiledGraph>> = {
    'in process': () => {
      const app = compile(turns(), { tools: desk(new Effects()) })
      return () => app
    },
    'rebuilt from the store': () => {
      const store = memory()
      return () => compile(turns(), { store, tools: desk(new Effects()) })
    },
  }
  const more = { input: { calls: ['send 2'] } }

  for (const [way, open] of Object.entries(apps)) {
    test(`a branch from before the decision asks again (${way})`, async () => {
      const app = open()
      const { before, after } = await decided(app())
      const again = await app().run({ thread: 't1', from: before, ...more })
      expect(again.status).toBe('interrupted')
      await app().run({ thread: 't1', answer: { approve: false } })
      // The line that was left has it still.
      const left = await app().run({ thread: 't1', from: after, ...more })
      expect(left.status).toBe('success')
      const here = await app().run({ thread: 't1', input: { calls: ['send 3'] } })
      expect(here.status).toBe('success')
    })

    test(`a fork has what was decided before it (${way})`, async () => {
      const app = open()
      const { before, after } = await decided(app())
      await app().fork('t1', { from: after, to: 'late' })
      await app().fork('t1', { from: before, to: 'early' })
      expect((await app().run({ thread: 'late', ...more })).status).toBe('success')
      expect((await app().run({ thread: 'early', ...more })).status).toBe('interrupted')
      // A branch of the fork too, from its very beginning.
      const first = (await all(app().history('late'))).at(-1)!.checkpoint
      const branch = await app().run({ thread: 'late', from: first, ...more })
      expect(branch.status).toBe('success')

      await app().fork('t1', { from: before })
      expect((await app().run({ thread: 't1', ...more })).status).toBe('interrupted')
    })

    test(`what is decided on a branch is not known on the other (${way})`, async () => {
      const app = open()
      const { before, after } = await decided(app())
      const branch = { thread: 't1', from: before, input: { calls: ['send 2'] } }
      await app().run(branch)
      await app().run({ thread: 't1', answer: { approve: false, remember: true, reason: 'no' } })
      const denied = await app().run({ thread: 't1', input: { calls: ['send 3'] } })
      expect(denied.state['said']).toEqual(['read 0 success', 'send 2 denied', 'send 3 denied'])
      const old = await app().run({ thread: 't1', from: after, input: { calls: ['send 4'] } })
      expect(old.state['said']).toEqual(['read 0 success', 'send 1 success', 'send 4 success'])
    })
  }
})

test('a child graph that began behind an approval begins anew on a branch', async () => {
  const child = graph({
    name: 'child',
    state: { ok: field<boolean>(), said: field('') },
    nodes: {
      say: ({ ok }) => ({ said: ok ? 'approved' : 'denied' }),
      async ask(_, ctx) {
        await ctx.interrupt('Sure?')
      },
    },
    edges: { start: 'say', say: 'ask', ask: 'end' },
  })
  const parent = graph({
    name: 'parent',
    state: { said: field('') },
    nodes: {
      async go(_, ctx) {
        const [result] = await ctx.callAll([{ tool: 'send', args: { n: 1 } }])
        return { said: (await ctx.child(child, { ok: result!.status === 'success' })).said }
      },
    },
    edges: { start: 'go', go: 'end' },
  })
  const app = compile(parent, { tools: desk(new Effects()) })
  await app.run({ thread: 't', input: {} })
  const from = (await app.state('t'))!.checkpoint
  await app.run({ thread: 't', answer: { approve: true } })
  expect((await app.run({ thread: 't', answer: 'yes' })).state).toEqual({ said: 'approved' })
  await app.run({ thread: 't', from })
  await app.run({ thread: 't', answer: { approve: false } })
  expect((await app.run({ thread: 't', answer: 'yes' })).state).toEqual({ said: 'denied' })
})

/** Runs the calls of its input, written as "tool n", and adds what came of them. */
function turns(): Graph {
  return graph({
    name: 'turns',
    state: {
      calls: field<readonly string[]>(),
      said: reduced(field<string[]>([]), append),
    },
    nodes: {
      async go({ calls }, ctx) {
        const wanted = calls.map((one) => {
          const [tool, n] = one.split(' ') as [string, string]
          return { tool, args: { n: Number(n) } }
        })
        const results = await ctx.callAll(wanted)
        return { said: results.map(({ status }, at) => `${calls[at]} ${status}`) }
      },
    },
    edges: { start: 'go', go: 'end' },
  })
}
