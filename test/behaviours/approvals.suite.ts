// B36, B09 and what is remembered, on every store of every place; and with whatever failing at whatever operation from the
// answer on.
import {
  approval,
  approvals,
  type Call,
  type CallResult,
  type CompiledGraph,
  type CompileOptions,
  type RunRequest,
  type Snapshot,
  type Store,
} from 'heddle'
import type { Fault, Operation } from 'heddle/testing'
import { batch, desk, Effects, of, wants } from './approvals-parts.ts'
import { atEveryOperation, LEASE, machine, told, type Machine, type Way } from './faults-tools.ts'
import { casesOf, equal, refusedWith, type Case, type Cases, type Open } from './portable.ts'

const WAYS: readonly Way[] = ['crash before', 'crash after', 'lost reply', 'error']
const CALLS: readonly Call[] = [
  wants('c1', 'send', 1),
  wants('c2', 'read', 2),
  wants('c3', 'drop', 3),
]

const cases: Cases = {
  async 'one is approved, one is denied, and what had finished stays finished'(reopen) {
    const store = await reopen()
    const effects = new Effects()
    const open = (): Machine => desked(store, effects, 'desk')
    const asked = await open().app.run({ thread: 't', input: {}, user: 'ann' })
    if (asked.status !== 'interrupted') throw new Error(`it is ${asked.status}`)
    equal(effects.counts, { read: 1, send: 0, drop: 0 }, 'effects before the answer')
    const inbox = await open().app.interruptions()
    equal(inbox, asked.interruptions, 'the inbox')
    await refusedWith('approval_pending', () => open().app.run({ thread: 't', input: {} }))
    await refusedWith('ambiguous_resume', () => open().app.run({ thread: 't', answer: {} }))
    const [send, drop] = [of(inbox, 'send'), of(inbox, 'drop')]
    const wrong = { [send.id]: { approve: true, args: { n: 'x' } }, [drop.id]: { approve: false } }
    await refusedWith('schema_error', () => open().app.run({ thread: 't', answers: wrong }))
    const answers = {
      ...approval.reply(send, { approve: true, args: { n: 7 } }),
      ...approval.reply(drop, { approve: false, reason: 'no' }),
    }
    const { state } = await open().app.run({ thread: 't', answers, user: 'bob' })
    equal(state['read'], ['send: {"did":"send","n":7}', READ, 'drop: denied, no'], 'what is read')
    equal(effects.counts, { read: 1, send: 1, drop: 0 }, 'effects')
    await refusedWith('nothing_to_resume', () => open().app.run({ thread: 't', answers }))
    const answered = await open().app.interruptions({ thread: 't', status: 'answered' })
    equal(
      answered.map(({ id, user, answeredBy, answer }) => ({ id, user, answeredBy, answer })),
      [send, drop]
        .toSorted((a, b) => inbox.indexOf(a) - inbox.indexOf(b))
        .map(({ id }) => ({ id, user: 'ann', answeredBy: 'bob', answer: answers[id] })),
      'what is on record',
    )
  },

  async 'what is remembered survives all but another line'(reopen) {
    const store = await reopen()
    const effects = new Effects()
    const open = (): Machine => desked(store, effects, 'memory', [wants('c1', 'send', 1)])
    await open().app.run({ thread: 't', input: {} })
    const before = (await open().app.state('t'))!.checkpoint
    await open().app.run({ thread: 't', answer: { approve: true, remember: true } })
    equal((await open().app.run({ thread: 't', input: {} })).status, 'success', 'a later turn')
    // Where lists lag, a thread that has just been written can't be exported yet.
    const late = open()
    late.later(LAG)
    await late.app.importThread(await late.app.exportThread('t'), { to: 'moved' })
    equal((await late.app.run({ thread: 'moved', input: {} })).status, 'success', 'a move')
    const branch = await open().app.run({ thread: 't', from: before })
    equal(branch.status, 'interrupted', 'a branch from before')
    equal(effects.counts, { read: 0, send: 3, drop: 0 }, 'effects')
  },

  async 'nobody’s answer in time is a denial'(reopen) {
    const store = await reopen()
    const effects = new Effects()
    const expiring = approvals({ when: ({ call }) => call.tool === 'read', expires: 1000 })
    const late = desked(store, effects, 'late', [wants('c1', 'read', 1)], [], { hooks: [expiring] })
    await late.app.run({ thread: 't', input: {} })
    late.later(1000)
    equal((await late.app.tick()).woken, ['t'], 'who was woken')
    equal((await late.app.state('t'))!.state['read'], ['read: denied, expired'], 'what is read')
    equal(effects.counts, { read: 0, send: 0, drop: 0 }, 'effects')
  },

  ...Object.fromEntries(
    WAYS.map((way) => [
      `an answer counts once, in spite of: ${way}`,
      async (reopen) => atEveryOperation(await reopen(), way, answering),
    ]),
  ),
  ...Object.fromEntries(
    WAYS.map((way) => [
      `what a rule decides is on record once, in spite of: ${way}`,
      async (reopen) => atEveryOperation(await reopen(), way, deciding),
    ]),
  ),
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('approvals', open, cases)
}

/** How long lists may miss what was written, in milliseconds. */
const LAG = 600_000
const READ = 'read: {"did":"read","n":2}'

/** A batch is asked about, and answered; only what comes from the answer on fails. A turn later the tool isn't asked about. */
async function answering(
  store: Store,
  name: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const effects = new Effects()
  const first = desked(store, effects, name).app
  await first.run({ thread: name, input: {} })
  const open = await first.interruptions({ thread: name })
  const answers = {
    ...approval.reply(of(open, 'send'), { approve: true, remember: true }),
    ...approval.reply(of(open, 'drop'), { approve: false, reason: 'no', remember: true }),
  }
  const here = desked(store, effects, name, CALLS, faults)
  const { store: faulty } = here
  const crashed = await through(here, first, name, (now) =>
    asks(now) ? { answers, user: 'ann' } : undefined,
  )
  const log = [...faulty.log]

  const { app } = here
  const { state } = (await app.state(name))!
  equal(state['read'], ['send: {"did":"send","n":1}', READ, 'drop: denied, no'], 'what is read')
  const ids = (state['results'] as readonly CallResult[]).map(({ id }) => id)
  equal(ids, ['c1', 'c2', 'c3'], 'whose results there are')
  atMost(effects.of('send'), crashed ? 2 : 1, 'effects of what was approved')
  equal([effects.of('read'), effects.of('drop')], [1, 0], 'effects of the others')
  const again = await app.run({ thread: name, input: {} })
  equal(again.status, 'success', 'a turn later')
  const answered = await app.interruptions({ thread: name, status: 'answered' })
  equal(
    answered.map(({ answeredBy }) => answeredBy),
    ['ann', 'ann', 'ann', 'ann'],
    'who answered, twice and twice by what stands',
  )
  equal(new Set(answered.map(({ answeredAt }) => answeredAt)).size, 1, 'when that was')
  equal(effects.of('drop'), 0, 'effects of what was denied')
  await app.delete(name)
  return log
}

/** Rules decide of two calls, a person of the third. */
async function deciding(
  store: Store,
  name: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const effects = new Effects()
  const rule = approvals({
    when: () => true,
    decide: ({ tool }) => (tool === 'drop' ? undefined : { approve: tool === 'send' }),
  })
  const here = desked(store, effects, name, CALLS, faults, { hooks: [rule] })
  const { store: faulty } = here
  const look = desked(store, effects, name).app
  const crashed = await through(here, look, name, (now) => {
    if (asks(now)) return { answer: { approve: true } }
    return now ? undefined : { input: {} }
  })
  const log = [...faulty.log]
  const { app } = here
  const { state } = (await app.state(name))!
  equal(
    state['read'],
    ['send: {"did":"send","n":1}', 'read: denied, no reason', 'drop: {"did":"drop","n":3}'],
    'what is read',
  )
  for (const tool of ['send', 'drop']) atMost(effects.of(tool), crashed ? 2 : 1, tool)
  equal(effects.of('read'), 0, 'effects of what was denied')
  const answered = await app.interruptions({ thread: name, status: 'answered' })
  const deciders = answered.map(({ payload, answeredBy = '' }) => {
    return `${(payload as { tool: string }).tool} ${answeredBy}`
  })
  equal(deciders.toSorted(), ['drop ', 'read approvals', 'send approvals'], 'what is on record')
  await app.delete(name)
  return log
}

/** Goes on until the thread has ended: says what `next` does, which knows how it stands. Tells whether its process died. */
async function through(
  here: Machine,
  look: CompiledGraph,
  thread: string,
  next: (now: Snapshot | undefined) => object | undefined,
): Promise<boolean> {
  let crashed = false
  for (let round = 0; round < 10; round++) {
    const now = await look.state(thread)
    if (now?.status === 'success') return crashed
    const request = next(now)
    // Its owner may be dead; a thread that was only taken is absent.
    if (!request || (!now && round > 0)) here.later(LEASE + 1)
    await told(here.app, { thread, ...request } as RunRequest)
    if (here.store.crashed) {
      crashed = true
      here.later(0)
    }
  }
  throw new Error("it doesn't end")
}

const asks = (now: Snapshot | undefined): boolean => now?.status === 'interrupted'

function atMost(count: number, most: number, what: string): void {
  if (count < 1 || count > most) throw new Error(`${what}: ${count}, not from 1 to ${most}`)
}

/** A machine with the desk. */
function desked(
  store: Store,
  effects: Effects,
  name: string,
  calls = CALLS,
  faults: readonly Fault[] = [],
  more: CompileOptions = {},
): Machine {
  const graph = { ...batch(() => calls), name }
  return machine(store, graph, faults, { ...more, tools: desk(effects) })
}
