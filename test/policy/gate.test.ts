// What a quality gate does with each result, and what it refuses.
import {
  compile,
  field,
  gate,
  gateEvent,
  graph,
  memory,
  type GateRecord,
  type GateResult,
  type Graph,
} from 'heddle'
import { describe, expect, it } from 'vitest'
import { silent } from '../fakes/silent.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

type Draft = { readonly draft: string; readonly review: unknown }

describe('declaring', () => {
  const right = { name: 'g', field: 'f', evaluate: pass, pass: 'a', fail: 'b', escalate: 'c' }
  it.each([
    { name: '' },
    { field: 1 },
    { pass: undefined },
    { fail: '' },
    { escalate: null },
    { evaluate: 'pass' },
  ])('is refused with %o', (wrong) => {
    expect(() => gate({ ...right, ...(wrong as object) })).toThrow(TypeError)
  })
  it.each([
    [{ ...right, attempts: 2 }, '"attempts" is not known here'],
    [undefined, 'what is given is undefined'],
  ])('is refused with %o', (spec, why) => {
    expect(() => gate(spec as never)).toThrow(`Cannot declare a gate: ${why}`)
  })
  it.each([0, -1, 1.5, Number.NaN, '3'])('is refused with maxAttempts %o', (maxAttempts) => {
    const spec = { ...right, maxAttempts: maxAttempts as number }
    expect(() => gate(spec)).toThrow(RangeError)
    expect(() => gate(spec)).toThrow(/^Cannot declare gate "g": maxAttempts is/)
  })
})

it('keeps the last result whole, and lets work on that passed', async () => {
  const found = { passed: true, score: 0, reasons: ['short'], feedback: 'well done' }
  const { state, data } = await told(writing(() => found))
  expect(state).toMatchObject({ draft: 'v1', end: 'sent' })
  expect(state.review).toEqual({ ...found, attempts: 1 } satisfies GateRecord)
  expect(data).toEqual([
    { gate: 'review', phase: 'started', attempt: 1, reasons: [] },
    { gate: 'review', phase: 'passed', attempt: 1, score: 0, reasons: ['short'] },
  ])
})

it('keeps nothing that an evaluation left out, and nothing more than a result has', async () => {
  const found = { passed: true, draft: () => 'not storable' }
  const { state } = await told(writing(() => found))
  expect(state.review).toStrictEqual({ passed: true, attempts: 1 })
})

it('sends work back with feedback until it passes', async () => {
  const seen: unknown[] = []
  const { state, data } = await told(
    writing(
      async ({ draft }) => ({ passed: draft === 'v2', feedback: `${draft} is too short` }),
      ({ review }) => seen.push(review),
    ),
  )
  expect(seen).toEqual([null, { passed: false, feedback: 'v1 is too short', attempts: 1 }])
  expect(state.review).toEqual({ passed: true, feedback: 'v2 is too short', attempts: 2 })
  expect(data.map(({ phase, attempt }) => `${phase} ${attempt}`)).toEqual([
    'started 1',
    'failed 1',
    'started 2',
    'passed 2',
  ])
  for (const event of data) expect(gateEvent['~standard'].validate(event)).toEqual({ value: event })
})

it.each([
  { maxAttempts: undefined, drafts: 3 },
  { maxAttempts: 1, drafts: 1 },
  { maxAttempts: 5, drafts: 5 },
])(
  'hands over after $drafts failures (maxAttempts: $maxAttempts)',
  async ({ maxAttempts, drafts }) => {
    const { state, data } = await told(writing(fail, undefined, maxAttempts))
    expect(state).toMatchObject({ draft: `v${drafts}`, end: 'asked' })
    expect(state.review).toEqual({ passed: false, reasons: ['no'], attempts: drafts })
    expect(data.filter(({ phase }) => phase === 'started').length).toBe(drafts)
    expect(data.filter(({ phase }) => phase === 'failed').length).toBe(drafts - 1)
    expect(data.at(-1)).toEqual({
      gate: 'review',
      phase: 'escalated',
      attempt: drafts,
      reasons: ['no'],
    })
  },
)

it('counts from one again in the next turn, after a pass and after an escalation', async () => {
  const results = [true, false, false, false, true]
  const app = compile(writing(() => ({ passed: results.shift()! })))
  const attempts = async (): Promise<unknown> =>
    ((await app.run({ thread: 't', input: {} })).state.review as GateRecord).attempts
  expect([await attempts(), await attempts(), await attempts()]).toEqual([1, 3, 1])
})

describe('a result that is none', () => {
  it.each([
    [undefined, [undefined]],
    [null, [undefined]],
    [true, [undefined]],
    [{}, [['passed']]],
    [{ passed: 'yes' }, [['passed']]],
    [{ passed: 1, score: Number.NaN }, [['passed'], ['score']]],
    [{ passed: true, score: '5' }, [['score']]],
    [{ passed: true, reasons: 'no' }, [['reasons']]],
    [{ passed: true, reasons: [1] }, [['reasons']]],
    [{ passed: false, feedback: {} }, [['feedback']]],
  ])('is refused: %o', async (found, paths) => {
    const error = await refusal(writing(() => found as never))
    expect(error).toMatchObject({
      code: 'schema_error',
      message: 'Cannot go on from gate "review": what evaluate returned is no result',
      details: { node: 'review', field: 'review' },
    })
    const { issues } = (error as { details: { issues: { path?: unknown }[] } }).details
    expect(issues.map(({ path }) => path)).toEqual(paths)
  })

  it('is evaluated again when the thread goes on, and so is one that threw', async () => {
    const results: (() => unknown)[] = [
      () => 'odd',
      () => Promise.reject(new Error('down')),
      () => ({ passed: false }),
      () => ({ passed: true }),
    ]
    const app = compile(
      writing(() => results.shift()!() as never),
      { store: memory(), logger: silent },
    )
    await expect(app.run({ thread: 't', input: {} })).rejects.toMatchObject({
      code: 'schema_error',
    })
    await expect(app.run({ thread: 't' })).rejects.toThrow('down')
    const { state } = await app.run({ thread: 't' })
    expect(state.review).toEqual({ passed: true, attempts: 2 })
  })
})

it.each([['done'], [{ passed: true }], [[]], [{ attempts: 1 }], [0]])(
  'a field with something else in it is refused: %o',
  async (review) => {
    const error = await refusal(writing(pass), { review })
    expect(error).toMatchObject({ code: 'schema_error', details: { field: 'review' } })
    expect((error as Error).message).toMatch(
      /^Cannot go on from gate "review": field "review" holds/,
    )
  },
)

it('a field that the graph lacks is refused by the engine', async () => {
  const stray = graph({
    name: 'stray',
    state: { draft: field('') },
    events: gateEvent,
    nodes: {
      review: gate({ ...spec, field: 'revue', evaluate: pass }),
      send: () => {},
      write: () => {},
      person: () => {},
    },
    edges: { start: 'review', review: 'end', send: 'end', write: 'end', person: 'end' },
  })
  expect(await refusal(stray)).toMatchObject({ code: 'schema_error', details: { field: 'revue' } })
})

describe('gateEvent', () => {
  const event = { gate: 'g', phase: 'failed', attempt: 1, score: 0.5, reasons: ['a'] }
  it.each([
    null,
    'failed',
    { ...event, gate: 1 },
    { ...event, phase: 'skipped' },
    { ...event, attempt: 0 },
    { ...event, score: '1' },
    { ...event, reasons: undefined },
    { ...event, reasons: [1] },
  ])('refuses %o', (wrong) => {
    expect(gateEvent['~standard'].validate(wrong)).toMatchObject({ issues: [{}] })
  })
  it('takes an event with and without a score', () => {
    const { score: _, ...rest } = event
    expect(gateEvent['~standard'].validate(event)).toEqual({ value: event })
    expect(gateEvent['~standard'].validate(rest)).toEqual({ value: rest })
  })
})

const spec = {
  name: 'review',
  field: 'review',
  pass: 'send',
  fail: 'write',
  escalate: 'person',
} as const

function pass(): GateResult {
  return { passed: true }
}
function fail(): GateResult {
  return { passed: false, reasons: ['no'] }
}

/** Writes `v1`, `v2`, … until the gate lets one go. */
function writing(
  evaluate: (state: Draft) => GateResult | Promise<GateResult>,
  onWrite: (state: Draft) => void = () => {},
  maxAttempts?: number,
) {
  return graph({
    name: 'writing',
    state: { draft: field('v0'), review: field<unknown>(null), end: field('') },
    events: gateEvent,
    nodes: {
      write: (state) => {
        onWrite(state)
        return { draft: `v${Number(state.draft.slice(1)) + 1}` }
      },
      review: gate({ ...spec, evaluate, ...(maxAttempts !== undefined && { maxAttempts }) }),
      send: () => ({ end: 'sent' }),
      person: () => ({ end: 'asked' }),
    },
    edges: { start: 'write', write: 'review', review: 'end', send: 'end', person: 'end' },
  })
}

async function told(made: ReturnType<typeof writing>) {
  const live = compile(made).stream({ thread: 't', input: {} })
  const data = []
  for await (const event of live) if (event.kind === 'backend') data.push(event.data)
  return { state: (await live.outcome).state, data }
}

async function refusal(
  made: Graph,
  input: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const app = compile(made, { logger: silent })
  return app.run({ thread: 't', input }).then(
    () => undefined,
    (error: unknown) => error,
  )
}
