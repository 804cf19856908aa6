// Every program in examples/ is run here: what its comment says is what it does.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compile, field, graph, type StreamEvent } from 'heddle'
import { storeContract } from 'heddle/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { answer, ask, inbox } from '../../examples/approval.ts'
import { app as publishing } from '../../examples/child.ts'
import { lookUpAll } from '../../examples/fan-out.ts'
import { fileStore } from '../../examples/file-store.ts'
import { logStore, type Log } from '../../examples/log-store.ts'
import { handle, log as warmLog, stop } from '../../examples/warm.ts'

const room = mkdtempSync(join(tmpdir(), 'heddle-examples-'))
afterAll(() => rmSync(room, { recursive: true, force: true }))

it('hello.ts asks, is answered and greets', async () => {
  expect(await program('examples/hello.ts')).toBe('interrupted success Hello, Ada!\n')
})

it('reminder.ts wakes nothing early, and each wait once', async () => {
  expect((await program('examples/reminder.ts')).split('\n')).toEqual([
    'waiting',
    '{ woken: [], recovered: [], next: 2026-03-02T08:00:00.000Z }',
    "[ '2026-03-02T08:00:00.000Z', '2026-03-03T09:00:00.000Z' ]",
    '',
  ])
})

it('hooks.ts writes down what runs, and stands in for a node', async () => {
  expect((await program('examples/hooks.ts')).trimEnd().split('\n')).toEqual([
    '> order.price',
    '< price {"price":0}',
    '> order.agree',
    '',
    '> order.price',
    '~ price asking for north',
    '> order.agree',
    '> order.agree',
    '< agree {"agreed":true}',
  ])
})

it('scopes.ts makes one client for a scope, closes it before the result is there, and tells the context', async () => {
  expect(await program('examples/scopes.ts')).toBe(
    "[ 'GET /returns', 'GET /rates' ] [ true ]\nrun_\n",
  )
})

it('gate.ts tries again with feedback, and asks a person after three failures', async () => {
  const loop = ['started 1 []', "failed 1 [ '1 words' ]", 'started 2 []', "failed 2 [ '2 words' ]"]
  expect((await program('examples/gate.ts')).split('\n')).toEqual([
    ...loop,
    ...['started 3 []', 'passed 3 []', 'success a heddle leads published'],
    ...loop,
    ...['started 3 []', "escalated 3 [ '3 words' ]", 'interrupted no go at '],
    'published by a person',
    '',
  ])
})

it('mcp.ts reads without asking, and removes what a person let it remove', async () => {
  expect((await program('examples/mcp.ts')).split('\n')).toEqual([
    'interrupted the letter a 1',
    "files_remove { path: 'a.txt' }",
    'removed 0',
    '',
  ])
})

it('tools.ts gives every call its own result, and pays nothing that was denied or paid before', async () => {
  expect((await program('examples/tools.ts')).split('\n')).toEqual([
    '5',
    '[',
    "  '24',",
    `  'error: Cannot accept the arguments of tool "shipping_rate": they are not JSON',`,
    `  'error: Cannot call tool "shiping_rate": there is no such tool; there are "shipping_rate", "refund"'`,
    ']',
    'interrupted [ 20 ] { amount: 80 }',
    "[ 20 ] [ '1', 'denied: ask the manager' ]",
    '',
  ])
})

it('cache.ts looks each city up once, in any order of arguments, and a node is not entered twice', async () => {
  expect((await program('examples/cache.ts')).split('\n')).toEqual([
    "[ 'Oslo' ] true 21",
    'true',
    "{ city: 'Oslo', unit: 'C', degrees: 21 }",
    'undefined',
    "{ report: '21' } false",
    "{ report: '21' } true",
    '',
  ])
})

it('policies.ts hides what it must, blocks what it must, stops in time, and reports what it would do', async () => {
  const [first, ...rest] = (await program('examples/policies.ts')).split('\n')
  expect([first, ...rest.slice(0, 3)]).toEqual([
    'success',
    'Cannot call tool "post": guardrail "no cards" says it gives a password away',
    'success',
    'Cannot call tool "post": the run has used 2 of 2 calls',
  ])
  const told = rest.slice(3).join('\n')
  expect(told).toContain("[ 'paid with (a card)', 'thanks' ]")
  expect(told.match(/outcome: '.*'/g)).toEqual(["outcome: 'run_limit_exceeded'"])
})

it('approvals.ts pays what a rule or a person approves, as edited, and says who decided', async () => {
  expect((await program('examples/approvals.ts')).split('\n')).toEqual([
    "interrupted [ 'o0 15' ]",
    "[ { order: 'o1', amount: 120 }, { order: 'o2', amount: 4000 } ]",
    "[ '{\"paid\":15}', '{\"paid\":100}', 'denied: call the customer first' ] [ 'o0 15', 'o1 100' ]",
    "[ 'approvals', 'ann', 'ann' ]",
    '',
  ])
})

it('agent.ts looks orders up, pays back what is small or approved, and tells why the rest stays', async () => {
  const lines = (await program('examples/agent.ts')).split('\n')
  expect(lines.filter((line) => !line.endsWith('tokens'))).toEqual([
    'ann: Where is order 1042?',
    '  find_order {"order":"1042"}',
    '  find_order: success',
    'support: Order 1042 over $59.90 is delivered.',
    'ann: It arrived broken, I want my money back',
    '  find_order {"order":"1042"}',
    '  find_order: success',
    '  refund {"order":"1042","amount":59.9}',
    '  desk: yes to refund of order 1042',
    '  refund: success',
    'support: The money for order 1042 is on its way to you.',
    'ann: Please refund order 78',
    '  find_order {"order":"78"}',
    '  find_order: success',
    '  refund {"order":"78","amount":34.5}',
    '  refund: success',
    'support: The money for order 78 is on its way to you.',
    'ann: I want a refund for order 1044',
    '  find_order {"order":"1044"}',
    '  find_order: success',
    '  refund {"order":"1044","amount":139}',
    '  desk: no to refund of order 1044',
    '  refund: denied',
    'support: The money for order 1044 stays here: it has to come back first',
    'paid back: [ 59.9, 34.5 ]',
    '',
  ])
  const tokens = lines.filter((line) => /^  \d+ tokens$/.test(line)).map((line) => parseInt(line))
  expect(tokens).toHaveLength(4)
  expect(tokens.every((count) => count > 50)).toBe(true)
})

it('warm.ts connects once for all its calls, and disconnects when it stops', async () => {
  expect(await Promise.all([handle({ region: 'eu' }), handle({ region: 'mars' })])).toEqual([
    { status: 'ok', rate: 4.9 },
    { status: 'ok', rate: 12 },
  ])
  expect(await handle({ region: 'eu' })).toEqual({ status: 'ok', rate: 4.9 })
  expect(warmLog).toEqual(['connect'])
  await stop()
  expect(warmLog).toEqual(['connect', 'disconnect'])
  await expect(handle({ region: 'eu' })).rejects.toMatchObject({ code: 'tool_usage_error' })
})

it('approval.ts is answered after the process that asked has gone', async () => {
  const file = join(room, 'approval.log')
  const open = async () => fileStore(file)
  let store = await open()
  expect(await ask(store, 't1', 120)).toBe('interrupted')
  expect(await ask(store, 't2', 7)).toBe('interrupted')
  await store.close?.()

  store = await open()
  const [first, second] = await inbox(store)
  expect([first?.payload, second?.payload]).toEqual([{ amount: 120 }, { amount: 7 }])
  expect(await answer(store, first!, true)).toBe('pay 120')
  expect(await answer(store, second!, false)).toBe('refuse')
  await expect(answer(store, first!, false)).rejects.toMatchObject({ code: 'nothing_to_resume' })
  expect(await inbox(store)).toEqual([])
  await store.close?.()
})

describe('fan-out.ts', () => {
  it('tries what fails again, and joins in the order of the items', async () => {
    const tries = new Map<string, number>()
    const report = await lookUpAll(['a', 'b', 'c'], async (word) => {
      const n = (tries.get(word) ?? 0) + 1
      tries.set(word, n)
      if (word === 'b' && n < 3) throw new Error('not now')
      return word.charCodeAt(0)
    })
    expect(report).toBe('a: 97, b: 98, c: 99')
    expect(Object.fromEntries(tries)).toEqual({ a: 1, b: 3, c: 1 })
  })

  it('runs at most four at a time, and the join also without items', async () => {
    let [now, most] = [0, 0]
    await lookUpAll([...'abcdefghi'], async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return --now
    })
    expect(most).toBe(4)
    expect(await lookUpAll([], async () => 1)).toBe('nothing to look up')
  })

  it('fails with the error of an item that fails three times', async () => {
    const lookUp = lookUpAll(['a'], async () => Promise.reject(new Error('gone')))
    await expect(lookUp).rejects.toThrow('gone')
  })
})

it('child.ts pauses with what its children ask, and shows what they emit', async () => {
  const said: unknown[] = []
  const read = async (events: AsyncIterable<StreamEvent>): Promise<void> => {
    for await (const event of events) if (event.kind === 'backend') said.push(event.data)
  }
  await read(publishing.stream({ thread: 'p1', input: { title: 'Looms', body: 'A loom is …' } }))
  const [asked] = await publishing.interruptions({ thread: 'p1' })
  expect(asked).toMatchObject({ ns: ['title'], node: 'read', payload: { text: 'Looms' } })
  await read(publishing.stream({ thread: 'p1', answer: 'fine' }))
  const last = await publishing.run({ thread: 'p1', answer: 'no' })
  expect(last).toMatchObject({ status: 'success', state: { log: ['title fine', 'body bad'] } })
  // The node is entered again for its answer, and emits again.
  expect(said).toEqual(['title: reads "Looms"', 'title: reads "Looms"', 'reads "A loom is …"'])
})

describe('log-store.ts', () => {
  const create = () => logStore(arrayLog())
  for (const { name, run } of storeContract({ create })) it(name, run)

  it('brings threads back from its lines alone', async () => {
    const log = arrayLog()
    const waiting = graph({
      name: 'waiting',
      state: { answer: field('') },
      nodes: { ask: async (_, ctx) => ({ answer: String(await ctx.interrupt('?')) }) },
      edges: { start: 'ask', ask: 'end' },
    })
    await compile(waiting, { store: logStore(log) }).run({ thread: 't', input: {} })
    const later = compile(waiting, { store: logStore(arrayLog(log.lines)) })
    expect((await later.run({ thread: 't', answer: 'yes' })).state.answer).toBe('yes')
  })
})

/** Runs a program as a reader would, and gives what it prints. */
async function program(file: string): Promise<string> {
  const run = promisify(execFile)
  const { stdout, stderr } = await run(process.execPath, ['scripts/run.mjs', file])
  expect(stderr).toBe('')
  return stdout
}

function arrayLog(lines: readonly string[] = []): Log & { readonly lines: readonly string[] } {
  const kept = [...lines]
  return { lines: kept, append: (line) => void kept.push(line) }
}
