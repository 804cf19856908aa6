// A list of messages: what was done to it, and what that comes to. Versions share it and never change.
import { describe, expect, it } from 'vitest'
import { decode, encode, type Cell } from '../../src/durable/codec.ts'
import { messageIn, Messages, type List } from '../../src/durable/list.ts'
import { State, type FieldShape } from '../../src/durable/state.ts'

const ROOT = 't/a.b/'
const fields: readonly FieldShape[] = [
  { name: 'chat', kind: 'messages' },
  { name: 'other', kind: 'list' },
]

const said = (id: string, text: string, more: object = {}): Cell =>
  encode({ id, role: 'user', text, ...more })
const gone = (id: string): Cell => encode({ remove: id })
const texts = (list: List): string =>
  list
    .copy()
    .map((one) => (one as { readonly text: string }).text)
    .join('')

describe('a list of messages', () => {
  it('holds each id once, in the place where it came first, as it was said last', () => {
    const list = new Messages().append([said('1', 'a'), said('2', 'b'), said('3', 'c')])
    expect(texts(list.append([said('2', 'B'), said('4', 'd'), said('4', 'D')]))).toBe('aBcD')
    expect(texts(list.append([gone('1'), said('1', 'x')]))).toBe('bcx')
    expect(texts(list.append([said('1', 'x'), gone('1')]))).toBe('bc')
    // Two nodes of a step may both take it away.
    expect(texts(list.append([gone('2'), gone('2')]))).toBe('ac')
  })

  it('has versions that never change, whichever was read or appended to', () => {
    const first = new Messages().append([said('1', 'a'), said('2', 'b')])
    const second = first.append([said('1', 'A'), said('3', 'c')])
    const third = second.append([gone('2')])
    const other = first.append([gone('1')])
    expect(texts(third)).toBe('Ac')
    expect(texts(first)).toBe('ab')
    expect(texts(other)).toBe('b')
    expect(texts(second)).toBe('Abc')
    expect(texts(third.append([said('2', 'B')]))).toBe('AcB')
    expect([first, second, third].map(texts)).toEqual(['ab', 'Abc', 'Ac'])
    expect(third.items).toBe(first.items)
    expect(other.items).not.toBe(first.items)
  })

  it('gives copies, with bytes and dates in what was replaced too', () => {
    const file = { mediaType: 'a/b', data: Uint8Array.of(1, 2) }
    const list = new Messages()
      .append([said('1', 'a')])
      .append([said('1', 'A', { files: [file], at: new Date(5) })])
    const [copy] = list.copy() as [{ text: string; files: { data: Uint8Array }[] }]
    expect(copy).toEqual({ id: '1', role: 'user', text: 'A', files: [file], at: new Date(5) })
    copy.text = 'mine'
    copy.files.length = 0
    expect(list.copy()).toMatchObject([{ text: 'A', files: [file] }])
    expect(decode(messageIn(list.items[1] as Cell))).toEqual((list.copy() as object[])[0])
  })

  it('knows what has come since, and what was never there before', () => {
    const first = new Messages().append([said('1', 'a'), said('2', 'b')])
    expect(first.since()).toEqual([
      { id: '1', role: 'user' },
      { id: '2', role: 'user' },
    ])
    const next = first.append([
      said('2', 'B'),
      gone('1'),
      said('1', 'x'),
      said('3', 'c'),
      said('4', 'd'),
      gone('4'),
    ])
    expect(next.since(first.length)).toEqual([{ id: '3', role: 'user' }])
    expect(next.since(first.length, new Set(['3']))).toEqual([])
  })

  it('bears with operations that are none', () => {
    const list = new Messages().append([encode('text'), encode(null), said('1', 'a')])
    expect(list.copy()).toContainEqual({ id: '1', role: 'user', text: 'a' })
  })
})

describe('what is stored of messages', () => {
  it('grows with what is done to them, however many there are', async () => {
    const bytes = async (many: number): Promise<number> => {
      const rows = await written(many)
      return [...rows.values()].reduce((sum, text) => sum + text.length, 0)
    }
    const [some, more] = [await bytes(200), await bytes(2000)]
    // Each is written once, and once more for each level of the log that it gets to.
    expect(some).toBeLessThan(200 * 3 * 60)
    expect(more / some).toBeLessThan(14)
  })

  it('is nothing for messages that stay as they are', () => {
    const state = new State(fields)
    state.append(0, [said('1', 'a')])
    state.append(1, [1])
    const puts: { key: string; value: string }[] = []
    const first = state.write(ROOT, 'c1', puts)
    expect(puts).toHaveLength(2)
    expect(Object.keys(first.m ?? {})).toEqual(['chat'])
    expect(Object.keys(first.l ?? {})).toEqual(['other'])
    state.append(0, [])
    state.append(1, [2])
    const second = state.write(ROOT, 'c2', puts)
    expect(puts).toHaveLength(3)
    expect(second.m).toEqual(first.m)
  })

  it('leaves behind what has come and gone when that is most of it', async () => {
    const state = new State(fields)
    for (let n = 0; n < 100; n++)
      state.append(0, [said(`${n}`, 'x'), ...(n > 2 ? [gone(`${n - 3}`)] : [])])
    const news: { readonly id: string }[] = []
    const puts: { key: string; value: string }[] = []
    state.write(ROOT, 'c1', puts, news as never)
    expect(news.map(({ id }) => id)).toEqual(['97', '98', '99'])
    state.compact()
    expect((state.values[0] as List).length).toBe(3)
    const rows = new Map<string, string>()
    puts.length = news.length = 0
    const refs = state.write(ROOT, 'c2', puts, news as never)
    for (const { key, value } of puts) rows.set(key, value)
    expect(news, 'what is known is no news').toEqual([])
    const again = await State.load(fields, ROOT, refs, from(rows), false)
    expect((again.values[0] as List).copy()).toHaveLength(3)
    state.compact()
    expect(state.write(ROOT, 'c3', puts).m, 'once is enough').toEqual(refs.m)
  })

  it('is told of each message once, whoever loads it', async () => {
    const rows = new Map<string, string>()
    const heard: string[] = []
    let state = new State(fields)
    let refs = {}
    for (let n = 0; n < 70; n++) {
      state.append(0, [said(`${n}`, 'x'), ...(n > 0 ? [said(`${n - 1}`, 'again')] : [])])
      const puts: { key: string; value: string }[] = []
      const news: { readonly id: string }[] = []
      refs = state.write(ROOT, `c${n}`, puts, news as never)
      for (const { key, value } of puts) rows.set(key, value)
      heard.push(...news.map(({ id }) => id))
      if (n % 7 === 0) state = await State.load(fields, ROOT, refs, from(rows), n % 2 === 0)
    }
    expect(heard).toEqual(Array.from({ length: 70 }, (_, n) => `${n}`))
  })
})

const from = (rows: ReadonlyMap<string, string>) => ({
  get: async (keys: readonly string[]) =>
    keys.map((key) => {
      const value = rows.get(key)
      return value === undefined ? undefined : { value }
    }),
})

/** The rows of so many messages, one at a time. */
async function written(many: number): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>()
  const state = new State(fields)
  for (let n = 0; n < many; n++) {
    state.append(0, [said(`${n}`, 'x')])
    const puts: { key: string; value: string }[] = []
    state.write(ROOT, `c${n}`, puts)
    for (const { key, value } of puts) rows.set(key, value)
  }
  return rows
}
