import { expect, test } from 'vitest'
import {
  compile,
  field,
  graph,
  memory,
  type CompiledGraph,
  type Store,
  type StreamEvent,
} from 'heddle'
import { withFaults } from 'heddle/testing'
import { all, keepBooks } from './harness.ts'

keepBooks()

type App = CompiledGraph

/** Steps that stop at a gate, so that a test decides when they go on. */
function gated(
  names: readonly string[],
  body?: (ctx: { emit(event: string): Promise<void> }) => void,
) {
  const gates = new Map<string, () => void>()
  const reached = new Map<string, () => void>()
  const at = new Map(
    names.map((name) => [name, new Promise<void>((resolve) => reached.set(name, resolve))]),
  )
  const nodes = Object.fromEntries(
    names.map((name) => [
      name,
      async (_: unknown, ctx: { emit(event: string): Promise<void> }) => {
        body?.(ctx)
        reached.get(name)!()
        await new Promise<void>((resolve) => gates.set(name, resolve))
        return { at: name }
      },
    ]),
  )
  const edges = Object.fromEntries(names.map((name, i) => [name, names[i + 1] ?? 'end']))
  const declared = graph({
    name: 'gated',
    state: { at: field<string>('') },
    events: field<string>(),
    nodes,
    edges: { start: names[0], ...edges },
  } as never)
  const open = async (name: string): Promise<void> => {
    await at.get(name)
    gates.get(name)!()
  }
  return { declared, open, at: (name: string) => at.get(name) }
}

function gather(source: AsyncIterable<unknown>): { events: StreamEvent[]; ended: Promise<void> } {
  const events: StreamEvent[] = []
  const ended = (async () => {
    for await (const event of source) events.push(event as StreamEvent)
  })()
  return { events, ended }
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const stores: readonly [string, (store: Store) => [Store, Store]][] = [
  ['in one process', (store) => [store, store]],
  ['from another process', (store) => [withFaults(store), withFaults(store)]],
]

for (const [where, pair] of stores) {
  test(`events come as they are stored (${where})`, async () => {
    const { declared, open, at } = gated(['a', 'b'])
    const [here, there] = pair(memory())
    const app = compile(declared, { store: here }) as App
    const other = where === 'in one process' ? app : (compile(declared, { store: there }) as App)
    const run = app.stream({ thread: 't', input: {} })
    const id = await run.id
    const heard = gather(other.subscribe('t', { run: id }))
    await at('a')
    await open('a')
    await at('b')
    await until(() => heard.events.some(({ kind }) => kind === 'step'))
    expect(heard.events.map(({ kind }) => kind)).toEqual(['node_start', 'node_end', 'step'])
    await open('b')
    await heard.ended
    expect(heard.events).toEqual(await all(run))
  })
}

test('what a long node emits is stored within a second, and at once when it is much', async () => {
  const { declared, open, at } = gated(['a'], (ctx) => {
    for (let i = 0; i < 600; i++) void ctx.emit(`e${i}`)
    void Promise.resolve().then(() => ctx.emit('the last'))
  })
  const app = compile(declared) as App
  const run = app.stream({ thread: 't', input: {} })
  const heard = gather(app.subscribe('t', { run: await run.id }))
  await at('a')
  await until(() => heard.events.length >= 512)
  await until(() => heard.events.length === 602)
  await open('a')
  await heard.ended
  expect(heard.events).toEqual(await all(run))
})

test('a signal ends it without an error, and so does leaving, at once', async () => {
  const { declared, open } = gated(['a'])
  const app = compile(declared) as App
  const run = app.stream({ thread: 't', input: {} })
  await run.id
  const control = new AbortController()
  const heard = gather(app.subscribe('t', { signal: control.signal }))
  control.abort()
  await heard.ended
  expect(heard.events).toEqual([])
  const late = app.subscribe('t')[Symbol.asyncIterator]()
  const pending = late.next()
  await late.return?.()
  expect(await pending).toEqual({ value: undefined, done: true })
  await open('a')
  await run.outcome
})

test('a thread that does not exist yet is waited for; one that is deleted ends it; an unknown run has no events', async () => {
  const { declared, open } = gated(['a'])
  const app = compile(declared) as App
  const heard = gather(app.subscribe('t'))
  const outcome = app.run({ thread: 't', input: {} })
  await open('a')
  await outcome
  await until(() => heard.events.some(({ kind }) => kind === 'done'))
  const none = gather(app.subscribe('t', { run: 'run_none' }))
  await none.ended
  expect(none.events).toEqual([])
  await app.delete('t')
  await heard.ended
})

test('what makes no sense is refused', () => {
  const app = compile(gated(['a']).declared) as App
  expect(() => app.subscribe('t', { after: -1 })).toThrow(RangeError)
  expect(() => app.subscribe('t', { aftr: 1 } as never)).toThrow(TypeError)
  expect(() => app.subscribe('t', { ns: 'a' } as never)).toThrow(TypeError)
})
