// B19: a branch asks again, whatever fails meanwhile; the line that was left stays as it was, and its answers with it.
import { append, field, graph, reduced, type CompiledGraph, type Graph, type Store } from 'heddle'
import type { Fault, Operation } from 'heddle/testing'
import { all, equal, refusedWith, type Cases } from './portable.ts'
import { atEveryOperation, LEASE, machine, told, type Way } from './faults-tools.ts'

const WAYS: readonly Way[] = ['crash before', 'crash after', 'lost reply']

export const lineageCases: Cases = {
  ...Object.fromEntries(
    WAYS.map((way) => [
      `a branch asks again in spite of: ${way}`,
      async (reopen) => atEveryOperation(await reopen(), way, replay),
    ]),
  ),

  async 'a fork takes edited fields along, also to another thread'(reopen) {
    const calls: Record<string, number> = {}
    const { app } = machine(await reopen(), line('line', calls))
    await app.run({ thread: 't', input: {} })
    const from = await before(app, 't', 'gate')
    await app.run({ thread: 't', answer: 'no' })
    const left = await app.state('t')
    const there = await app.fork('t', { from, update: { x: 5 }, to: 'other' })
    equal((await app.run({ thread: 'other' })).status, 'interrupted', 'the other thread')
    equal((await app.run({ thread: 'other', answer: 'yes' })).state, state('yes', 5), 'there')
    equal(await app.state('t'), left, 'the thread that was forked')
    await app.fork('t', { from, update: { x: 7 } })
    await app.run({ thread: 't' })
    equal((await app.run({ thread: 't', answer: 'yes' })).state, state('yes', 7), 'here')
    equal((await app.state('t', { checkpoint: from }))?.state['x'], 0, 'what was forked')
    equal((await app.state('t', { checkpoint: left!.checkpoint }))?.state, left!.state, 'the past')
    equal(there.thread, 'other', 'the thread that was made')
    equal(calls, { a: 1, gate: 6, b: 3 }, 'calls')
  },
}

/** Answers "no", goes back before the question, and answers "yes". Only what comes after "no" fails. */
async function replay(
  store: Store,
  name: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const calls: Record<string, number> = {}
  const make = line(name, calls)
  const { app: first } = machine(store, make)
  await first.run({ thread: name, input: {} })
  const from = await before(first, name, 'gate')
  const [old] = await first.interruptions({ thread: name })
  const left = (await first.run({ thread: name, answer: 'no' })).checkpoint

  const here = machine(store, make, faults)
  const { store: faulty } = here
  let end = 'no'
  for (let round = 0; end !== 'yes'; round++) {
    if (round > 9) throw new Error(`it doesn't end: ${end}`)
    if (end === 'no') await told(here.app, { thread: name, from })
    else if (end === 'interrupted') await told(here.app, { thread: name, answer: 'yes' })
    else {
      here.later(LEASE + 1)
      await told(here.app, { thread: name })
    }
    if (here.store.crashed) here.later(0)
    const now = await here.app.state(name)
    end = now!.status === 'success' ? String(now!.state['d']) : now!.status
  }
  const log = [...faulty.log]

  const { app } = here
  equal((await app.state(name))?.state, state('yes', 0), 'the branch')
  equal(
    (await app.state(name, { checkpoint: left }))?.state,
    state('no', 0),
    'the line that was left',
  )
  const history = await all(app.history(name))
  const parents = new Map(history.map(({ checkpoint, parent }) => [checkpoint, parent]))
  const trail: string[] = []
  let id: string | undefined = history[0]?.checkpoint
  for (; id !== undefined; id = parents.get(id)) trail.push(id)
  equal([trail.includes(from), trail.includes(left)], [true, false], 'what the branch comes from')
  const children = history.filter(({ parent }) => parent === from).length
  equal(children, 2, 'what follows the checkpoint that was gone back to')
  await refusedWith('unknown_interruption', () =>
    app.run({ thread: name, answers: { [old!.id]: 1 } }),
  )
  equal(calls['a'], 1, 'calls before the question')
  await app.delete(name)
  return log
}

async function before(app: CompiledGraph, thread: string, node: string): Promise<string> {
  const history = await all(app.history(thread))
  return history.find(({ next }) => next.includes(node))!.checkpoint
}

const state = (d: string, x: number): object => ({ d, x, log: ['a', `b ${d} ${x}`] })

function line(name: string, calls: Record<string, number>): Graph {
  const enter = (what: string): void => void (calls[what] = (calls[what] ?? 0) + 1)
  return graph({
    name,
    state: { d: field(''), x: field(0), log: reduced(field<string[]>([]), append) },
    nodes: {
      a: () => {
        enter('a')
        return { log: ['a'] }
      },
      gate: async (_, ctx) => {
        enter('gate')
        return { d: String(await ctx.interrupt('Go?')) }
      },
      b: ({ d, x }) => {
        enter('b')
        return { log: [`b ${d} ${x}`] }
      },
    },
    edges: { start: 'a', a: 'gate', gate: 'b', b: 'end' },
  })
}
