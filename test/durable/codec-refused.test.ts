import { describe, expect, it } from 'vitest'
import { decode, encode, read, write } from '../../src/durable/codec.ts'
import { UnserializableValue } from '../../src/errors.ts'

class Point {
  x = 1
}
class Dates extends Date {}
class Bytes extends Uint8Array {}
class List extends Array<number> {}

const refused: readonly (readonly [value: unknown, path: string, type: string])[] = [
  [{ a: { b: [1, { fn() {} }] } }, 'a.b[1].fn', 'function'],
  [Point, '', 'function'],
  [Symbol('secret'), '', 'symbol'],
  [{ [Symbol('secret')]: 1 }, '', 'symbol key'],
  [[{ a: { [Symbol.iterator]: undefined } }], '[0].a', 'symbol key'],
  [Object.assign(new Error('a'), { [Symbol('b')]: 1 }), '', 'symbol key'],
  [{ p: new Point() }, 'p', 'Point'],
  [
    new (class {
      x = 1
    })(),
    '',
    'object',
  ],
  [Object.create({ inherited: 1 }), '', 'Object'],
  [Object.create(Object.create(null)), '', 'object'],
  [new Dates(), '', 'Dates'],
  [new Bytes(1), '', 'Bytes'],
  [Buffer.from('a'), '', 'Buffer'],
  [{ list: new List() }, 'list', 'List'],
  [new WeakMap(), '', 'WeakMap'],
  [new WeakRef({}), '', 'WeakRef'],
  [[Promise.resolve()], '[0]', 'Promise'],
  [/a/, '', 'RegExp'],
  [new URL('https://example.com'), '', 'URL'],
  [new Response(), '', 'Response'],
  [new Blob(), '', 'Blob'],
  [new AbortController().signal, '', 'AbortSignal'],
  [new ReadableStream(), '', 'ReadableStream'],
  [
    new Map<unknown, unknown>([
      [1, 1],
      [{ k: /a/ }, 1],
    ]),
    '[1][0].k',
    'RegExp',
  ],
  [{ set: new Set([1, () => 1]) }, 'set[1]', 'function'],
  [{ e: new Error('a', { cause: { at: [/a/] } }) }, 'e.cause.at[0]', 'RegExp'],
  [new AggregateError([1, /a/]), 'errors[1]', 'RegExp'],
  [Object.assign(new Error('a'), { request: new Point() }), 'request', 'Point'],
  [{ e: Object.assign(new Error('a'), { name: [] }) }, 'e', 'Error'],
  [Object.defineProperty(new TypeError('a'), 'message', { value: 5 }), '', 'TypeError'],
  [{ 'two words': { '0': { é: /a/ } } }, '["two words"]["0"]["é"]', 'RegExp'],
  [
    JSON.parse('{"__proto__":[0]}', (_, value) => (value === 0 ? /a/ : value)),
    '__proto__[0]',
    'RegExp',
  ],
]

describe("a value that can't be stored", () => {
  for (const [value, path, type] of refused) {
    it(`is refused with where and what it is: ${type} at "${path}"`, () => {
      expect(refusalOf(value).details).toEqual({ path, type })
    })
  }

  it('is named with its node and its field, and never shown', () => {
    const refusal = refusalOf(
      { items: [{ password: 'hunter2', fn: () => 'hunter2' }] },
      'draft',
      'order',
    )
    expect(refusal.message).toBe(
      'Cannot store "order.items[0].fn" of node "draft": its type is "function"',
    )
    expect(refusal.details).toEqual({ node: 'draft', path: 'order.items[0].fn', type: 'function' })
    expect(refusalOf(/a/, 'draft').message).toBe(
      'Cannot store a value of node "draft": its type is "RegExp"',
    )
    expect(refusalOf([/a/], undefined, 'list').message).toBe(
      'Cannot store "list[0]": its type is "RegExp"',
    )
  })

  it('is an impostor of a built-in class', () => {
    for (const prototype of [
      Date.prototype,
      Map.prototype,
      Set.prototype,
      Uint8Array.prototype,
      ArrayBuffer.prototype,
      DataView.prototype,
    ]) {
      expect(refusalOf({ a: Object.create(prototype) }).details.path).toBe('a')
    }
    expect(refusalOf(new Proxy(new Map(), {})).cause).toBeInstanceOf(TypeError)
  })

  it('has a getter or a trap that throws, which becomes the cause', () => {
    const boom = new Error('boom')
    const thrower = (): never => {
      throw boom
    }
    const values = [
      {
        get b() {
          return thrower()
        },
      },
      Object.defineProperty([1], 0, { get: thrower }),
      new Proxy({}, { ownKeys: thrower }),
      new Proxy({}, { getPrototypeOf: thrower }),
      Object.defineProperty(new Error('a'), 'message', { get: thrower }),
      {
        get b() {
          return thrower()
        },
        c: 1n,
      },
    ]
    for (const value of values) {
      const refusal = refusalOf({ a: value })
      expect(refusal.cause).toBe(boom)
      expect(refusal.details).toEqual({ path: 'a', type: 'unreadable object' })
    }
  })

  it('is a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(refusalOf({ a: proxy }).details.path).toBe('a')
  })

  it('refers back to what holds it, and is reported where it does', () => {
    const loop: Record<string, unknown> = {
      big: Array.from({ length: 1000 }, (_, n) => n),
      p: { q: [] },
    }
    ;(loop['p'] as { q: unknown[] }).q.push({ z: loop['p'] })
    const map = new Map<string, unknown>()
    map.set('self', map)
    const set = new Set<unknown>()
    set.add([set])
    const error = new Error('a')
    error.cause = { error }
    const list: unknown[] = [1n]
    list.push(list)
    const cases: readonly (readonly [unknown, string])[] = [
      [loop, 'p.q[0].z'],
      [{ map }, 'map[0][1]'],
      [set, '[0][0]'],
      [error, 'cause.error'],
      [list, '[1]'],
    ]
    for (const [value, path] of cases)
      expect(refusalOf(value).details).toEqual({ path, type: 'circular reference' })
  })

  it('is nested deeper than 1,000, and no deeper one overflows the stack', () => {
    for (const [wrap, label] of [
      [(v: unknown) => [v], '[0]'],
      [(v: unknown) => ({ a: v }), 'a'],
      [(v: unknown) => new Set([v]), '[0]'],
      [(v: unknown) => new Error('', { cause: v }), 'cause'],
    ] as const) {
      for (const depth of [1002, 10_000, 200_000]) {
        const { path, type } = refusalOf(nest(wrap, depth)).details
        expect(type).toBe('nesting deeper than 1000')
        expect(path.startsWith(label)).toBe(true)
      }
    }
  })
})

describe('nesting that is just allowed', () => {
  it('survives text and every reader', () => {
    for (const wrap of [
      (v: unknown) => [v],
      (v: unknown) => ({ a: v }),
      (v: unknown) => new Set([v]),
    ]) {
      const cell = encode(nest(wrap, 1001))
      const text = JSON.stringify(write(cell))
      const reloaded = read(JSON.parse(text))
      expect(JSON.stringify(write(encode(decode(reloaded))))).toBe(text)
    }
  })
})

function nest(wrap: (value: unknown) => unknown, depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

function refusalOf(
  value: unknown,
  node?: string,
  root?: string,
): InstanceType<typeof UnserializableValue> & Error {
  try {
    encode(value, node, root)
  } catch (error) {
    expect(error).toBeInstanceOf(UnserializableValue)
    return error as InstanceType<typeof UnserializableValue>
  }
  throw new Error('It was stored')
}
