// B19: a branch asks again, keeps the past as it is, and leaves behind what was asked elsewhere.
import { append, field, graph, reduced, type Graph, type Snapshot } from 'heddle'
import { expect } from 'vitest'
import { everyWay, failure, keepBooks, type Pass, type Story } from './harness.ts'

keepBooks()

const WAYS: Readonly<Record<string, (story: Story, from: string) => Promise<Pass>>> = {
  'run({ from })': (story, from) => story.goOn({ from }),
  fork: async (story, from) => {
    await story.app.fork(story.thread, { from })
    return story.goOn()
  },
}

for (const [name, branch] of Object.entries(WAYS)) {
  everyWay(`${name} asks again, and both lines can be read`, async (open) => {
    const calls = { a: 0, gate: 0, b: 0 }
    const story = open(() => line(calls))
    const [old] = (await story.start()).open
    const before = (await story.answerOne('no')).outcome
    expect(before.state).toMatchObject({ d: 'no', log: ['a', 'gate', 'b no 1'] })
    const history = await story.history()
    const c = nextIs(history, 'gate')
    Object.assign(calls, { a: 0, gate: 0, b: 0 })

    const asked = await branch(story, c.checkpoint)
    expect(asked).toMatchObject({ status: 'interrupted', open: [{ payload: 'go?' }] })
    expect(calls).toEqual({ a: 0, gate: 1, b: 0 })
    expect(asked.open[0]?.id).not.toBe(old?.id)
    expect(asked.state).toEqual(c.state)

    // What was asked on the line that was left is nothing to this one.
    const left = { answers: { [old!.id]: 'late' } }
    const error = await story.refuses(left, 'unknown_interruption')
    expect(error).toMatchObject({ details: { interruptions: [old!.id] } })

    const ended = await story.answerOne('yes')
    expect(ended.state).toMatchObject({ d: 'yes', log: ['a', 'gate', 'b yes 1'] })
    expect(await lineage(story)).toContain(c.checkpoint)
    expect(await lineage(story)).not.toContain(before.checkpoint)
    expect((await story.snapshot(before.checkpoint)).state).toEqual(before.state)
    const now = await story.history()
    // Nothing of the past has changed.
    const known = new Set(history.map(({ checkpoint }) => checkpoint))
    expect(now.filter(({ checkpoint }) => known.has(checkpoint)).map(past)).toEqual(
      history.map(past),
    )
    const ids = now.map(({ checkpoint }) => checkpoint)
    expect(ids).toEqual(ids.toSorted().toReversed())

    // Also when the branch has ended; what was answered on the branch itself is answered.
    await story.refuses(left, 'unknown_interruption')
    await story.refuses({ answers: { [asked.open[0]!.id]: 'twice' } }, 'nothing_to_resume')
    await story.refuses({ answers: { nobody: 1 } }, 'nothing_to_resume')
  })

  everyWay(`${name} voids the question that it leaves open`, async (open) => {
    const story = open(() => line({ a: 0, gate: 0, b: 0 }))
    const [old] = (await story.start()).open
    const [, before] = await story.history()
    const asked = await branch(story, before!.checkpoint)
    const cancelled = await story.app.interruptions({ thread: story.thread, status: 'cancelled' })
    expect(cancelled.map(({ id }) => id)).toEqual([old?.id])
    expect((await story.open()).map(({ id }) => id)).toEqual([asked.open[0]?.id])
    await story.refuses({ answers: { [old!.id]: 1 } }, 'unknown_interruption')
    const both = { [old!.id]: 1, [asked.open[0]!.id]: 1 }
    await story.refuses({ answers: both }, 'unknown_interruption')
    expect((await story.answerOne('yes')).state['d']).toBe('yes')
  })

  everyWay(`${name} of branches of branches knows what each has left`, async (open) => {
    const story = open(() => line({ a: 0, gate: 0, b: 0 }, 3))
    const ids: string[] = []
    const ask = (pass: Pass): void => void ids.push(pass.open[0]!.id)
    ask(await story.start())
    ask(await story.answerOne('1'))
    const second = nextIs(await story.history(), 'gate')
    ask(await story.answerOne('2'))
    const third = nextIs(await story.history(), 'gate')
    // From the second question on anew: the first one is answered here too, the others were never asked.
    ask(await branch(story, second.checkpoint))
    const refusals = async (): Promise<string[]> => {
      const found: string[] = []
      for (const id of ids) {
        const isOpen = (await story.open()).some((one) => one.id === id)
        const error = isOpen
          ? { code: 'open' }
          : await failure(story.pass({ answers: { [id]: 0 } }))
        found.push((error as { code?: string }).code!)
      }
      return found
    }
    const [answered, unknown] = ['nothing_to_resume', 'unknown_interruption']
    expect(await refusals()).toEqual([answered, unknown, unknown, 'open'])
    // Back to the third question of the line that was left: its second question counts there.
    ask(await branch(story, third.checkpoint))
    expect(await refusals()).toEqual([answered, answered, unknown, unknown, 'open'])
    ask(await story.answerOne('3'))
    expect(await refusals()).toEqual([answered, answered, unknown, unknown, answered, 'open'])
    expect((await story.answerOne('end')).state['log']).toEqual([
      'a',
      ...['1', '2', '3', 'end'].map(() => 'gate'),
      'b end 1',
    ])
  })
}

everyWay('to name the newest checkpoint is to name none', async (open) => {
  const told: unknown[] = []
  for (const named of [false, true]) {
    const calls = { a: 0, gate: 0, b: 0 }
    const story = open(() => line(calls), { thread: `t${named}` })
    const asked = await story.start()
    const from = named ? { from: asked.outcome.checkpoint } : {}
    await story.refuses(from, 'nothing_to_resume')
    const { status, state, events } = await story.answerOne('yes', from)
    await story.refuses(
      named ? { from: (await story.snapshot()).checkpoint } : {},
      'nothing_to_resume',
    )
    const sources = (await story.history()).map(({ source, step }) => [source, step])
    told.push({ calls, status, state, sources, kinds: events.map(({ kind }) => kind) })
  }
  expect(told[1]).toEqual(told[0])
})

everyWay('an edit replaces fields on the branch only', async (open) => {
  const story = open(() => line({ a: 0, gate: 0, b: 0 }))
  await story.start()
  const c = await story.snapshot()
  await story.answerOne('no')
  const update = { x: 5, log: ['edited'] }
  const forked = await story.app.fork(story.thread, { from: c.checkpoint, update })
  update.log.push('later')
  expect(forked).toEqual({ thread: story.thread, checkpoint: expect.any(String) })
  expect(await story.snapshot()).toMatchObject({
    checkpoint: forked.checkpoint,
    parent: c.checkpoint,
    source: 'fork',
    status: 'starting',
    next: ['gate'],
    step: c.step,
    run: c.run,
    interruptions: [],
    state: { x: 5, log: ['edited'] },
  })
  await story.goOn()
  const ended = await story.answerOne('yes')
  expect(ended.state).toEqual({ d: 'yes', x: 5, log: ['edited', 'gate', 'b yes 5'] })
  expect((await story.snapshot(c.checkpoint)).state).toEqual(c.state)
  const siblings = (await story.history()).filter(({ parent }) => parent === c.checkpoint)
  expect(siblings).toHaveLength(2)
})

everyWay('after a fork an input is another turn, and a cancel changes nothing', async (open) => {
  const calls = { a: 0, gate: 0, b: 0 }
  const story = open(() => line(calls))
  const { outcome } = await story.start()
  const { checkpoint } = await story.app.fork(story.thread, { from: outcome.checkpoint })
  await story.app.cancel(story.thread)
  expect(await story.snapshot()).toMatchObject({ status: 'starting', checkpoint })
  await story.refuses({ answer: 1 }, 'nothing_to_resume')
  const turned = await story.start({ x: 7 })
  expect(calls).toEqual({ a: 2, gate: 2, b: 0 })
  expect(await lineage(story)).toContain(checkpoint)
  expect((await story.answerOne('yes')).state['log']).toEqual(['a', 'a', 'gate', 'b yes 1'])
  expect(turned.status).toBe('interrupted')
})

everyWay('a fork of an end has ended', async (open) => {
  const story = open(() => line({ a: 0, gate: 0, b: 0 }))
  await story.start()
  const ended = await story.answerOne('no')
  const { checkpoint } = await story.app.fork(story.thread, {
    from: ended.outcome.checkpoint,
    update: { d: 'edited' },
  })
  expect(await story.snapshot()).toMatchObject({
    checkpoint,
    status: 'success',
    next: [],
    state: { d: 'edited', x: 1 },
  })
  await story.refuses({}, 'nothing_to_resume')
  expect((await story.start({})).state['d']).toBe('edited')
})

everyWay('a turn from an older checkpoint leaves the questions after it behind', async (open) => {
  const story = open(() => line({ a: 0, gate: 0, b: 0 }))
  const [old] = (await story.start()).open
  const from = nextIs(await story.history(), 'gate').checkpoint
  await story.answerOne('no')
  const asked = await story.start({ x: 3 }, { from })
  await story.refuses({ answers: { [old!.id]: 1 } }, 'unknown_interruption')
  expect((await story.answer({ [asked.open[0]!.id]: 'yes' })).state['d']).toBe('yes')
})

const past = ({ checkpoint, parent, state, step, source }: Snapshot): unknown[] => [
  checkpoint,
  parent,
  state,
  step,
  source,
]

/** The newest of the checkpoints with this node next. */
function nextIs(history: readonly Snapshot[], name: string): Snapshot {
  const found = history.find(({ next }) => next.includes(name))
  expect(found).toBeDefined()
  return found as Snapshot
}

/** The checkpoints that led to the newest, it included. */
async function lineage(story: Story): Promise<string[]> {
  const found: string[] = []
  for (let at: string | undefined = (await story.snapshot()).checkpoint; at;) {
    found.push(at)
    at = (await story.snapshot(at)).parent
  }
  return found
}

function line(calls: { a: number; gate: number; b: number }, gates = 1): Graph {
  return graph({
    name: 'line',
    state: {
      d: field<unknown>(undefined),
      x: field(0),
      log: reduced(field<string[]>([]), append),
    },
    nodes: {
      a() {
        calls.a++
        return { x: 1, log: ['a'] }
      },
      async gate(_, ctx) {
        calls.gate++
        return { d: await ctx.interrupt('go?'), log: ['gate'] }
      },
      b({ d, x }) {
        calls.b++
        return { log: [`b ${d} ${x}`] }
      },
    },
    edges: {
      start: 'a',
      a: 'gate',
      gate: ({ d }) => (gates === 1 || d === 'end' ? 'b' : 'gate'),
      b: 'end',
    },
  })
}
