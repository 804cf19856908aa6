// What is no export, or not as it was exported: refused before anything is written, whatever is wrong with it.
import { compile, graph, memory, type ThreadExport } from 'heddle'
import { withFaults } from 'heddle/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { digest } from '../../src/lib/digest.ts'
import { failure, keepBooks, rowsOf } from './harness.ts'
import { voyage } from './transfer-parts.ts'

keepBooks()

type Rows = [key: string, text: string][]
type Head = Record<string, unknown>

let good: ThreadExport
beforeAll(async () => {
  const app = compile(voyage())
  await app.run({ thread: 't', input: {} })
  good = await app.exportThread('t')
})

/** Imports, and holds the refusal to have changed nothing. */
async function refusal(value: unknown, options?: object): Promise<Error & { code?: string }> {
  const under = memory()
  const store = withFaults(under)
  const app = compile(voyage(), { store })
  const error = await failure(app.importThread(value as never, options as never))
  expect(store.log.filter(({ op }) => op !== 'get' && op !== 'list')).toEqual([])
  expect(await rowsOf(under)).toEqual([])
  return error
}

/** The same with other rows and another head, and a digest that fits. */
async function forged(change: (rows: Rows, head: Head) => Rows | void): Promise<ThreadExport> {
  const [top, ...rows] = structuredClone(good.entries) as [string, ...Rows]
  const head = JSON.parse(top) as Head
  const changed = change(rows, head) ?? rows
  const entries = [JSON.stringify(head), ...changed]
  const { graph: name, thread } = good
  return { ...good, entries, digest: await digest(JSON.stringify([1, name, thread, entries])) }
}

it('what is forged without a change is taken, so that the refusals below are for their changes', async () => {
  expect(await forged(() => undefined)).toEqual(good)
  const app = compile(voyage())
  expect(await app.importThread(await forged(() => undefined))).toMatchObject({ id: 't' })
})

it.each([[undefined], [null], [1], ['{}'], [[]]])('%s is no value to import', async (value) => {
  expect(await refusal(value)).toBeInstanceOf(TypeError)
})

it.each([
  [{ to: 1 }],
  [{ to: null }],
  [{ metadata: 'x' }],
  [{ metadata: { when: new Date() } }],
  [{ other: 1 }],
])('%j is no way to arrive', async (options) => {
  expect(await refusal(good, options)).toBeInstanceOf(TypeError)
})

const changes: Readonly<Record<string, (value: ThreadExport) => object>> = {
  'another version': (value) => ({ ...value, heddle: 2 }),
  'no version': ({ heddle: _, ...value }) => value,
  'the version as a text': (value) => ({ ...value, heddle: '1' }),
  'another graph': (value) => ({ ...value, graph: 'other' }),
  'another thread': (value) => ({ ...value, thread: 'u' }),
  'a thread that is none': (value) => ({ ...value, thread: { toString: () => 't' } }),
  'another digest': (value) => ({ ...value, digest: '0'.repeat(32) }),
  'no digest': ({ digest: _, ...value }) => value,
  'no entries': ({ entries: _, ...value }) => value,
  'entries that are none': (value) => ({ ...value, entries: { length: 3 } }),
  'one entry less': (value) => ({ ...value, entries: value.entries.slice(0, -1) }),
  'one entry twice': (value) => ({ ...value, entries: [...value.entries, value.entries.at(-1)] }),
  'another order': (value) => ({ ...value, entries: value.entries.toReversed() }),
  'no entry': (value) => ({ ...value, entries: [] }),
}

it.each(Object.entries(changes))('%s is damage', async (_, change) => {
  expect(await refusal(change(good))).toMatchObject({ code: 'corrupt_checkpoint' })
})

it('any character that changes is found', async () => {
  const text = JSON.stringify(good)
  for (let at = 7; at < text.length; at += 997) {
    const other = text[at] === 'x' ? 'y' : 'x'
    let value: unknown
    try {
      value = JSON.parse(text.slice(0, at) + other + text.slice(at + 1))
    } catch {
      continue
    }
    expect(await refusal(value), `character ${at}`).toMatchObject({ code: 'corrupt_checkpoint' })
  }
})

const put =
  (key: string, text = '{}') =>
  (rows: Rows): Rows =>
    [...rows, [key, text] as [string, string]].sort(([a], [b]) => (a < b ? -1 : 1))
const first =
  (kind: string, change: (row: Record<string, unknown>, key: string) => unknown) =>
  (rows: Rows): void => {
    const row = rows.find(([key]) => key.startsWith(`${kind}/`))!
    row[1] = JSON.stringify(change(JSON.parse(row[1]) as Record<string, unknown>, row[0]))
  }
const drop =
  (kind: string) =>
  (rows: Rows): Rows => {
    const at = rows.findIndex(([key]) => key.startsWith(`${kind}/`))
    expect(at).toBeGreaterThan(-1)
    return rows.toSpliced(at, 1)
  }
const on =
  (change: (head: Head) => unknown) =>
  (_: Rows, head: Head): void =>
    void change(head)

/** A decision about a tool, as a head keeps it. */
const stands = { tool: 'send', n: 1, approve: true, at: 1 }

describe('a digest that fits helps nobody', () => {
  const forgeries: Readonly<Record<string, (rows: Rows, head: Head) => Rows | void>> = {
    'a key under another root': put('../t/~e.other.00000000000000/c/-/00000000000000'),
    'a key of a head': put('h/~e.other'),
    'a key of an index': put('d/voyage/00000000001/~e.t/lease'),
    'an empty key': put(''),
    'a key with a zero': put('c/-/0000000000000\u0000'),
    'a key that is too long': put(`k/${'x'.repeat(300)}`, '"r"'),
    'a key with a slash more': put('b/a/b/c', 'x'),
    'a prototype as a key': put('__proto__'),
    'a piece': put('x/c/-/zzzzzzzzzz0000.0'),
    'a row that nothing leads to': put(`s/${'0'.repeat(14)}.p/000000.00001`),
    'a log of another generation': put(`w/${'0'.repeat(14)}/000000`),
    'a question that nobody asked': put(`i/int_${'0'.repeat(32)}`),
    'a key twice': (rows) => [rows[0]!, ...rows],
    'a pair that is none': (rows) => [...rows, ['x'] as never],
    'a text that is none': (rows) => rows.map(([key]) => [key, 1 as never]),
    'texts that are lists of one text': (rows) =>
      rows.map(([key, text]) => [key, key.startsWith('r/') ? ([text] as never) : text]),
    'a decision that stands for nothing': on((head) => (head['standing'] = [{ n: 1, at: 1 }])),
    'a decision that is not sure': on((head) => (head['standing'] = [{ ...stands, approve: 1 }])),
    'a decision of later': on((head) => (head['standing'] = [{ ...stands, n: 1e15 }])),
    'decisions that are no list': on((head) => (head['standing'] = stands)),
    'a status that is a list of one text': on((head) => (head['status'] = [head['status']])),
    'a row that is no pair': (rows) => [...rows, 'row' as never],
    'no checkpoint': (rows) => rows.filter(([key]) => !key.startsWith('c/')),
    'a checkpoint less': drop('c'),
    'a value less': drop('s'),
    'a question less': drop('i'),
    'a journal entry less': drop('w'),
    'a run less': (rows) => rows.filter(([key]) => !key.startsWith('r/')),
    'a checkpoint that is none': first('c', () => []),
    'a checkpoint without a step': first('c', (row) => ({ ...row, step: undefined })),
    'a checkpoint with another kind of time': first('c', (row) => ({ ...row, time: 'now' })),
    'a checkpoint of no time': first('c', (row) => ({ ...row, time: 9e15 })),
    'a checkpoint with odd tasks': first('c', (row) => ({ ...row, next: [7] })),
    'a log of many updates': first('c', (row) => ({ ...row, state: { p: ['0', 2e9] } })),
    'a log of too many updates': first('c', (row) => ({ ...row, state: { p: ['0', 9e15] } })),
    'a log of no number': first('c', (row) => ({ ...row, state: { p: ['0', '1'] } })),
    'a log that is none': first('c', (row) => ({ ...row, state: { l: { list: 1 } } })),
    'a value that is no cell': first('s', () => ({ n: [1, 2, 3, 4] })),
    'a value of an unknown type': first('s', () => ({ n: ['x', [['Function']]] })),
    'a value that is a number': first('s', () => 1),
    'a journal entry that is none': first('w', () => ({ kind: 'result' })),
    'a journal entry of a child elsewhere': first('w', (row) => ({
      ...row,
      kind: 'child',
      place: 'c',
      value: '0'.repeat(14),
    })),
    'a run that is none': first('r', () => ({})),
    'a question without a time': first('i', (row) => ({ ...row, time: null })),
    'a head that is none': on((head) => {
      for (const name of Object.keys(head)) delete head[name]
    }),
    'a status that is none': on((head) => (head['status'] = 'deleted')),
    'a status of a thread that runs': on((head) => (head['status'] = 'running')),
    'a checkpoint that is not there': on((head) => (head['checkpoint'] = '0'.repeat(14))),
    'a checkpoint that leads elsewhere': on((head) => (head['checkpoint'] = '../../h/~e.othe')),
    'a journal without an end': on((head) => (head['entries'] = [[0, 2 ** 40]])),
    'a journal elsewhere': on((head) => (head['journal'] = '../x')),
    'a last number before others': on((head) => (head['last'] = 1)),
    'a last number beyond all': on((head) => (head['last'] = 36 ** 10)),
    'no list of what is open': on((head) => (head['open'] = {})),
    'an open question that is none': on((head) => (head['open'] = [{ id: '../../h/x' }])),
    'an open question due at no time': on((head) => {
      head['open'] = (head['open'] as object[]).map((one) => ({ ...one, due: 1e300 }))
    }),
    'metadata that is none': on((head) => (head['metadata'] = 'x')),
    'a key that is none': on((head) => (head['key'] = ['../../h/x', 1])),
  }

  it.each(Object.entries(forgeries))('%s', async (_, change) => {
    expect(await refusal(await forged(change))).toMatchObject({ code: 'corrupt_checkpoint' })
  })
})

it('names of prototypes are names', async () => {
  const value = await forged((_, head) => {
    head['metadata'] = JSON.parse('{"__proto__":{"polluted":1},"constructor":1}')
  })
  const app = compile(voyage())
  const { metadata } = await app.importThread(value)
  expect(JSON.stringify(metadata)).toBe('{"__proto__":{"polluted":1},"constructor":1}')
  expect(({} as { polluted?: 1 }).polluted).toBeUndefined()
  expect((await app.state('t'))?.metadata).toEqual(metadata)
})

it('a head says nothing of whose it is', async () => {
  const value = await forged((_, head) => {
    Object.assign(head, {
      ...{ thread: 'u', tenant: 'acme', graph: 'other', born: '../../x', owner: 'me', until: 9e12 },
      redo: [['h/~e.u', '{}']],
    })
  })
  const store = memory()
  const app = compile(voyage(), { store })
  expect(await app.importThread(value)).toMatchObject({ id: 't', graph: 'voyage' })
  expect(await app.state('u')).toBeUndefined()
  expect(
    (await rowsOf(store)).every(({ key }) => key.includes('/~e.t') || key.startsWith('n/')),
  ).toBe(true)
})

it('a thread of another graph, and one that is there already, are refused', async () => {
  const other = compile(
    graph({ name: 'other', state: {}, nodes: { a() {} }, edges: { start: 'a', a: 'end' } }),
  )
  expect(await failure(other.importThread(good))).toMatchObject({
    code: 'graph_mismatch',
    details: { thread: 't', graph: 'voyage' },
  })
  const store = memory()
  const app = compile(voyage(), { store })
  await app.importThread(good)
  const before = await rowsOf(store)
  expect(await failure(app.importThread(good))).toMatchObject({
    code: 'thread_exists',
    details: { thread: 't' },
  })
  expect(await rowsOf(store)).toEqual(before)
  expect(await app.importThread(good, { to: 'u' })).toMatchObject({ id: 'u' })
})
