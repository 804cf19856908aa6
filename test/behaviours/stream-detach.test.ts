// B23.5 and detach(): streams that nobody reads, or not to the end.
import { compile, field, graph } from 'heddle'
import { describe, expect, it } from 'vitest'
import { until } from './abort-idle.ts'
import { five } from './stream-parts.ts'
import { after, all, countingClock, failure, keepBooks } from './harness.ts'

keepBooks()

describe('detach()', () => {
  it('ends the loop and lets the run go on to its end', async () => {
    const calls: Record<string, number> = {}
    const app = compile(five(calls, [], 5), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    const kinds: string[] = []
    for await (const event of live) {
      kinds.push(event.kind)
      if (event.kind === 'node_end') live.detach()
    }
    expect(kinds).toEqual(['node_start', 'node_end'])
    expect(await live.outcome).toMatchObject({ status: 'success', state: { at: 'n5' } })
    expect(calls).toEqual({ n1: 1, n2: 1, n3: 1, n4: 1, n5: 1 })
  })

  it('before anyone reads leaves an empty stream; abort still stops the run', async () => {
    const app = compile(five({}, [], 10_000), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    live.detach()
    expect(await all(live)).toEqual([])
    const reason = new Error('enough')
    live.abort(reason)
    expect(await failure(live.outcome)).toBe(reason)
  })

  it('frees a node that waits for room', async () => {
    const app = compile(
      graph({
        name: 'chatty',
        state: {},
        events: field<number>(),
        nodes: {
          async n(_, ctx) {
            for (let i = 0; i < 500; i++) await ctx.emit(i)
          },
        },
        edges: { start: 'n', n: 'end' },
      }),
      { clock: countingClock() },
    )
    const live = app.stream({ thread: 't', input: {} })
    const reader = live[Symbol.asyncIterator]()
    await reader.next()
    await after(10)
    live.detach()
    expect(await live.outcome).toMatchObject({ status: 'success' })
  })
})

describe('a stream', () => {
  it('that is iterated a second time is over at once, also while the first loop goes on', async () => {
    const app = compile(five({}, [], 5), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    const first = live[Symbol.asyncIterator]()
    await first.next()
    expect(await all(live)).toEqual([])
    const kinds: string[] = []
    for (let step = await first.next(); !step.done; step = await first.next())
      kinds.push(step.value.kind)
    expect(kinds.at(-1)).toBe('done')
    expect(await all(live)).toEqual([])
    expect(await live.outcome).toMatchObject({ status: 'success' })
  })

  it('that nobody iterates runs to its end', async () => {
    const calls: Record<string, number> = {}
    const app = compile(five(calls, [], 2), { clock: countingClock() })
    const live = app.stream({ thread: 't', input: {} })
    expect(await live.outcome).toMatchObject({ status: 'success' })
    expect(await live.id).toMatch(/^run_/)
    expect(calls).toEqual({ n1: 1, n2: 1, n3: 1, n4: 1, n5: 1 })
  })

  it('that nobody looks at and that fails or is refused rejects nothing unheard', async () => {
    const app = compile(five({}, []), { clock: countingClock() })
    app.stream({ thread: 'unknown' })
    app.stream({ nonsense: true } as never)
    const live = app.stream({ thread: 't', input: {} })
    await until(async () => (await app.state('t'))?.status === 'running')
    live.abort()
    await until(async () => (await app.state('t'))?.status === 'cancelled')
    await after(5)
    expect(await app.state('unknown')).toBeUndefined()
  })
})
