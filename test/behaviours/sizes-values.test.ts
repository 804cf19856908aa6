// Values, heads and names of any length on stores that take little: what is read is what was written, and nothing is left.
import {
  append,
  compile,
  each,
  field,
  graph,
  memory,
  reduced,
  type Graph,
  type Store,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { describe, expect, it } from 'vitest'
import { tell } from '../runtime/story.ts'
import { smallStore } from '../fakes/small-store.ts'

import { failure, keepBooks } from './harness.ts'
import { rowsOf } from './portable.ts'
import { LIKE_DENO, SIZES, stray } from './sizes-parts.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** So many characters of one to four bytes, and quotes. */
const long = (length: number, first = ''): string =>
  (first + '漢é"😀x\\'.repeat(length)).slice(0, length)

/** Everything that a user can make long, is. */
const large = (size: number): Graph =>
  graph({
    name: 'large',
    state: {
      text: field(''),
      list: reduced(field<string[]>([]), append),
      seen: reduced(field<string[]>([]), append),
    },
    events: field<string>(),
    nodes: {
      work: async ({ text }, ctx) => {
        await ctx.emit(long(size, 'event '))
        const once = await ctx.once(long(size, 'key '), () => long(size, 'once '))
        return { list: [once, text, long(size, 'item ')] }
      },
      part: {
        item: field<string>(),
        run: (_, ctx) => ({ seen: [ctx.item as string] }),
      },
      ask: async (_, ctx) => {
        const answer = await ctx.interrupt(long(size, 'question '))
        return { text: answer as string }
      },
      fail: (_, ctx) => {
        if (ctx.metadata['well'] !== true) throw new Error(long(size, 'error '))
      },
    },
    edges: {
      start: 'work',
      work: () => each('part', [long(size, 'one '), long(size, 'two ')]),
      part: 'ask',
      ask: 'fail',
      fail: 'end',
    },
  })

describe.each(SIZES)('a store of %s', (_, make) => {
  it('tells the story as one without limits does', async () => {
    const store = make()
    const free = memory()
    expect(await tell(() => store)).toEqual(await tell(() => free))
    expect(await stray(store)).toEqual([])
  })

  it.each([950, 1_000, 3_000, 70_000])('keeps everything of %d characters', async (size) => {
    const store = make()
    const clock = manualClock()
    const app = () => compile(large(size), { store, clock, logger: silent })
    const thread = long(500, 'thread ')
    const metadata = { note: long(size, 'note ') }
    const input = { text: long(size, 'input ') }
    const first = await app().run({ thread, input, metadata })
    expect(first).toMatchObject({
      status: 'interrupted',
      interruptions: [{ payload: long(size, 'question ') }],
    })
    expect(await stray(store)).toEqual([])
    const list = [long(size, 'once '), long(size, 'input '), long(size, 'item ')]
    const seen = [long(size, 'one '), long(size, 'two ')]
    const before = { text: input.text, list, seen }
    expect((await app().state(thread))?.state).toEqual(before)
    expect((await app().interruptions()).map(({ payload }) => payload)).toEqual([
      long(size, 'question '),
    ])

    const answer = long(size, 'answer ')
    const error = await failure(app().run({ thread, answer }))
    expect(error.message).toBe(long(size, 'error '))
    expect(await app().state(thread)).toMatchObject({
      state: { ...before, text: answer },
      status: 'error',
      error: { message: long(size, 'error ') },
      metadata,
    })
    const ended = await app().run({ thread, metadata: { well: true } })
    expect(ended).toMatchObject({ status: 'success', state: { ...before, text: answer } })
    expect(await stray(store)).toEqual([])
    const [shown] = await app().interruptions({ thread, status: 'answered' })
    expect(shown).toMatchObject({ answer, payload: long(size, 'question ') })

    await app().delete(thread)
    expect([...(await rowsOf(store)).keys()]).toEqual([])
  })
})

const counter = (): Graph =>
  graph({
    name: 'counter',
    state: { n: field(0) },
    nodes: { count: ({ n }) => ({ n: n + 1 }) },
    edges: { start: 'count', count: ({ n }) => (n % 50 ? 'count' : 'end') },
  })

/** A store that counts the bytes it is sent. */
function counted(under: Store): { store: Store; bytes: () => number } {
  let bytes = 0
  const store: Store = {
    ...under,
    commit(batch) {
      for (const { value } of batch.puts ?? []) bytes += value.length
      return under.commit(batch)
    },
  }
  return { store, bytes: () => bytes }
}

describe('metadata of 1 MB', () => {
  const metadata = { note: 'x'.repeat(1_000_000) }

  it('is written when it comes and when a run begins or ends, and not by its steps', async () => {
    const { store, bytes } = counted(smallStore(memory(), LIKE_DENO))
    const app = compile(counter(), { store })
    await app.run({ thread: 't', input: {}, metadata })
    // Its own record, the head as it is claimed, and as it ends.
    expect(bytes()).toBeLessThan(3.2 * 1_000_000)
    expect((await app.state('t'))?.metadata).toEqual(metadata)
    expect(await stray(store)).toEqual([])
  })

  it('is read while its owner takes a step after the other', async () => {
    const store = smallStore(memory(), LIKE_DENO)
    const app = compile(counter(), { store })
    await app.run({ thread: 't', input: {} })
    let over = false
    const running = (async () => {
      for (let turn = 0; turn < 8; turn++)
        await app.run({ thread: 't', input: {}, metadata: { note: `${turn}`.repeat(200_000) } })
      over = true
    })()
    const reader = compile(counter(), { store })
    let reads = 0
    for (let last = 0; !over; reads++) {
      const seen = await reader.state('t')
      const n = seen?.state['n'] as number
      expect(n).toBeGreaterThanOrEqual(last)
      last = n
      await new Promise((resolve) => setTimeout(resolve))
    }
    await running
    expect(reads).toBeGreaterThan(10)
  })
})
