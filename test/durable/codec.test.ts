import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { decode, encode, read, same, Tagged, write } from '../../src/durable/codec.ts'
import { alike, objectsIn } from './codec-alike.ts'

const plain: Record<string, unknown> = {
  false: false,
  zero: 0,
  'an empty text': '',
  null: null,
  '1e21': 1e21,
  '0.1 + 0.2': 0.1 + 0.2,
  'the smallest number': Number.MIN_VALUE,
  'half an emoji': '\ud83d',
  'the other half': ['\ude00\ud83d'],
  'a NUL': 'a\u0000b',
  'a line separator': { '\u2028': '\u2029' },
  'empty keys': { '': { '': [] } },
  'number-like keys in the order objects give them': { 2: 'b', 1: 'a', z: 0 },
  'what looks like a type tag': { $type: 'Date', value: 'x' },
  'what looks like a row': [[null], [['Date', 0]]],
  'what looks like a tagged cell': { tree: null, tags: [['undefined']] },
}

const tagged: Record<string, unknown> = {
  undefined: undefined,
  'an undefined member': { a: undefined },
  'an undefined element': [undefined],
  NaN: Number.NaN,
  Infinity: [Infinity, -Infinity],
  'negative zero': { at: [-0] },
  'a bigint': 10n ** 30n,
  'a negative bigint': [-1n, 0n],
  'a date': new Date(0),
  'the first and the last date': [new Date(-8.64e15), new Date(8.64e15)],
  'an invalid date': { at: new Date(Number.NaN) },
  'a map in its order': new Map<unknown, unknown>([
    ['b', 1],
    ['a', {}],
  ]),
  'a map with objects as keys': new Map<unknown, unknown>([
    [{ id: 1n }, new Map([[[], 1]])],
    [Number.NaN, undefined],
  ]),
  'a set in its order': new Set([2, 1]),
  'a set of sets and dates': new Set([new Set([undefined]), new Date(5)]),
  'empty collections': [new Map(), new Set()],
  'a buffer': Uint8Array.of(0, 128, 255).buffer,
  'a data view': new DataView(Uint8Array.of(1, 2, 3, 4).buffer.slice(1, 3)),
  'no bytes': [new Uint8Array(), new ArrayBuffer(0)],
  'signed bytes': Int8Array.of(-1, 127),
  'clamped bytes': Uint8ClampedArray.of(0, 255),
  '16 bits': [Int16Array.of(-300), Uint16Array.of(65535)],
  '32 bits': [Int32Array.of(-70000), Uint32Array.of(4294967295)],
  '64 bits': [BigInt64Array.of(-1n), BigUint64Array.of(2n ** 64n - 1n)],
  floats: [Float32Array.of(0.5, Number.NaN), Float64Array.of(-0, 0.1, Infinity)],
  'more bytes than one argument list takes': new Uint8Array(300_001).map((_, index) => index * 7),
  'an error': new Error('no'),
  'an error with a cause that is a value': new Error('no', {
    cause: { at: new Date(1), is: undefined },
  }),
  'an error with an undefined cause': new Error('no', { cause: undefined }),
  'a chain of errors of the built-in classes': new TypeError('a', {
    cause: new RangeError('b', {
      cause: new SyntaxError('c', {
        cause: new URIError('', { cause: new EvalError('d', { cause: new ReferenceError('e') }) }),
      }),
    }),
  }),
  'an error with members of its own': Object.assign(new Error('no'), {
    code: 'E1',
    retry: { after: 5n },
    errors: [1],
  }),
  'an error of errors': new AggregateError([new Error('a'), 1n], 'both', { cause: 'why' }),
}

describe('what comes back', () => {
  for (const [name, value] of Object.entries({ ...plain, ...tagged })) {
    it(`is the value itself, in process and through text: ${name}`, () => {
      const cell = encode(value)
      const text = JSON.stringify(write(cell))
      const reloaded = read(JSON.parse(text))
      expect(alike(decode(cell), value)).toBe(true)
      expect(alike(decode(reloaded), value)).toBe(true)
      expect(same(cell, reloaded)).toBe(true)
      expect(JSON.stringify(write(reloaded))).toBe(text)
    })
  }

  it('is plain JSON in the row when the value is', () => {
    for (const value of Object.values(plain)) {
      expect(encode(value)).not.toBeInstanceOf(Tagged)
      expect(write(encode(value))).toEqual(
        typeof value === 'object' && value !== null ? [value] : value,
      )
    }
  })

  it('is well-formed text, also for half an emoji', () => {
    const text = JSON.stringify(write(encode({ '\ud83d': ['\ude00'] })))
    expect(new TextDecoder().decode(new TextEncoder().encode(text))).toBe(text)
    expect(alike(trip({ '\ud83d': ['\ude00'] }), { '\ud83d': ['\ude00'] })).toBe(true)
  })

  it('has the bytes of a window and not those around it', () => {
    const back = trip(Uint8Array.of(1, 2, 3, 4).subarray(1, 3)) as Uint8Array
    expect([...back]).toEqual([2, 3])
    expect(back.buffer.byteLength).toBe(2)
  })

  it('has undefined where an array had a hole', () => {
    const holed: unknown[] = []
    holed[1] = 1
    expect(alike(trip(holed), [undefined, 1])).toBe(true)
    expect(alike(decode(encode(holed)), [undefined, 1])).toBe(true)
  })

  it('is an ordinary object where one had no prototype', () => {
    const bare = Object.assign(Object.create(null), { a: { b: 1 } })
    expect(alike(trip(bare), { a: { b: 1 } })).toBe(true)
  })

  it('is two equal objects where one stood twice', () => {
    const one = { at: new Date(1) }
    const back = trip({ a: one, b: [one] }) as { a: object; b: [object] }
    expect(alike(back, { a: one, b: [one] })).toBe(true)
    expect(back.a).not.toBe(back.b[0])
  })

  it('is an error of the nearest built-in class with the name it had', () => {
    class Refused extends TypeError {
      override name = 'Refused'
      readonly code = 7
      get secret(): string {
        return 'not a member'
      }
    }
    const back = trip(new Refused('no')) as Refused
    expect(back).toBeInstanceOf(TypeError)
    expect(back).toMatchObject({ name: 'Refused', message: 'no', code: 7 })
    expect(Object.keys(back)).toEqual(['code'])
    expect(String(trip(new DOMException('late', 'TimeoutError')))).toBe('TimeoutError: late')
  })

  it('has no stack of where an error was thrown or read', () => {
    const error = new Error('no')
    const back = trip(error) as Error
    expect(back.stack).toBe('Error: no')
    expect(JSON.stringify(write(encode(error)))).not.toContain('codec.test')
  })

  it('is the same for objects of another realm', () => {
    const [value, copy] = [0, 1].map(() =>
      runInNewContext(`({
      list: [1, { a: [] }], at: new Date(5), map: new Map([[{}, 1n]]), set: new Set([[]]), bytes: Uint8Array.of(1, 2, 3).subarray(1),
      buffer: new ArrayBuffer(2), error: Object.assign(new RangeError('far', { cause: new Error('b') }), { code: 1 }),
    })`),
    )
    const ours = {
      list: [1, { a: [] }],
      at: new Date(5),
      map: new Map([[{}, 1n]]),
      set: new Set([[]]),
      bytes: Uint8Array.of(2, 3),
      buffer: new ArrayBuffer(2),
      error: Object.assign(new RangeError('far', { cause: new Error('b') }), { code: 1 }),
    }
    expect(value instanceof Object).toBe(false)
    expect(alike(trip(value), ours)).toBe(true)
    expect(alike(decode(encode(value)), ours)).toBe(true)
    expect(alike(decode(encode(value.list)), ours.list)).toBe(true)
    expect(same(encode(value), encode(copy))).toBe(true)
  })

  it('is plain data for a reactive proxy over it', () => {
    const reactive = <Target extends object>(target: Target): Target =>
      new Proxy(target, {
        get: (on, key, self) => {
          const value: unknown = Reflect.get(on, key, self)
          return typeof value === 'object' && value !== null ? reactive(value) : value
        },
      })
    const value = { todos: [{ text: 'a', tags: ['x'] }], at: null }
    expect(alike(trip(reactive(value)), value)).toBe(true)
    expect(alike(trip({ ...reactive(value), big: 1n }), { ...value, big: 1n })).toBe(true)
  })
})

describe('isolation', () => {
  const input = (): {
    list: { n: number }[]
    at: Date
    map: Map<string, { n: number }>
    bytes: Uint8Array
  } => ({
    list: [{ n: 1 }],
    at: new Date(1),
    map: new Map([['a', { n: 1 }]]),
    bytes: Uint8Array.of(1),
  })

  it('keeps a cell as it was when its input changes', () => {
    const value = input()
    const cell = encode(value)
    value.list[0]!.n = 2
    value.list.push({ n: 3 })
    value.at.setTime(2)
    value.map.get('a')!.n = 2
    value.bytes[0] = 2
    expect(alike(decode(cell), input())).toBe(true)
  })

  it('keeps a cell as it was when a reader changes its copy', () => {
    for (const cell of [encode(input()), encode({ list: [{ n: 1 }] })]) {
      const first = decode(cell) as ReturnType<typeof input>
      first.list[0]!.n = 2
      first.list.length = 0
      first.at?.setTime(2)
      first.map?.clear()
      first.bytes?.fill(9)
      expect((decode(cell) as ReturnType<typeof input>).list).toEqual([{ n: 1 }])
      expect(same(cell, encode(decode(cell)))).toBe(true)
    }
  })

  it('takes frozen input and gives what can be changed', () => {
    const value = Object.freeze({ a: Object.freeze([Object.freeze({ b: 1 })]) })
    const back = decode(encode(value)) as { a: { b: number }[] }
    back.a[0]!.b = 2
    back.a.push({ b: 3 })
    expect(value).toEqual({ a: [{ b: 1 }] })
  })

  it('shares no object with its input, its cell or another reader', () => {
    const value = input()
    const cell = encode(value)
    const all = [value, cell, decode(cell), decode(cell)].flatMap((each) => [...objectsIn(each)])
    expect(new Set(all).size).toBe(all.length)
  })

  it('reads every getter once, also when the value needs tags', () => {
    for (const given of [1, [{}], 1n, new Date(1), new Map()]) {
      let reads = 0
      const value = {
        a: {
          get b() {
            reads++
            return given
          },
        },
        c: given,
      }
      encode([value])
      expect(reads).toBe(1)
    }
  })
})

describe('names that objects already have', () => {
  const text =
    '{"__proto__":{"admin":true},"constructor":{"prototype":{"p":1}},"hasOwnProperty":1,"toString":null,"a":1}'

  it('are members like any other and never reach a prototype', () => {
    for (const extra of [{}, { at: new Date(1) }]) {
      const value = Object.defineProperties(
        JSON.parse(text),
        Object.getOwnPropertyDescriptors(extra),
      )
      const back = trip(value) as Record<string, unknown>
      expect(alike(back, value)).toBe(true)
      expect(Object.hasOwn(back, '__proto__')).toBe(true)
      expect(back['admin']).toBeUndefined()
      expect(
        ({} as Record<string, unknown>)['admin'] ?? ({} as Record<string, unknown>)['p'],
      ).toBeUndefined()
    }
  })

  it('can hold values that need tags', () => {
    const value = own({ at: new Date(1) }, '__proto__', own({}, '__proto__', 1n))
    expect(alike(trip(value), value)).toBe(true)
  })

  it('can be members of an error', () => {
    const error = own(new Error('no'), '__proto__', { constructor: new Set([1]) })
    const back = trip(error)
    expect(alike(back, error)).toBe(true)
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype)
  })

  it('stay out of it when someone has added to Object.prototype', () => {
    const prototype = Object.prototype as Record<string, unknown>
    prototype['added'] = { fn: () => 1 }
    try {
      expect(Object.keys(trip({ a: { b: 1n } }) as object)).toEqual(['a'])
    } finally {
      delete prototype['added']
    }
  })
})

describe('same', () => {
  const pairs: readonly (readonly [unknown, unknown, boolean])[] = [
    [1, 1, true],
    [1, '1', false],
    [0, -0, false],
    [Number.NaN, Number.NaN, true],
    [null, undefined, false],
    [{ a: 1, b: 2n }, { b: 2n, a: 1 }, true],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [{ a: undefined }, {}, false],
    [{ a: undefined }, { b: undefined }, false],
    [{ a: undefined }, { a: null }, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [[1], { 0: 1 }, false],
    [new Set([1, 2]), new Set([2, 1]), false],
    [new Set([1]), [1], false],
    [new Map([[1, 2]]), new Map([[1, 2]]), true],
    [new Date(1), 1, false],
    [new Date(1), new Date(1), true],
    [1n, '1', false],
    [Uint8Array.of(1), Int8Array.of(1), false],
    [{ a: 1n, b: '1' }, { a: '1', b: 1n }, false],
    [new Error('a'), new Error('a'), true],
    [new Error('a'), new TypeError('a'), false],
    [JSON.parse('{"__proto__":1}'), {}, false],
    [{ tree: null, tags: [['undefined']] }, undefined, false],
  ]

  it('says whether two cells hold the same value', () => {
    for (const [a, b, expected] of pairs) {
      expect([a, b, same(encode(a), encode(b))]).toEqual([a, b, expected])
      expect([b, a, same(encode(b), encode(a))]).toEqual([b, a, expected])
    }
  })
})

function trip(value: unknown): unknown {
  return decode(read(JSON.parse(JSON.stringify(write(encode(value))))))
}

function own<Target extends object>(target: Target, key: string, value: unknown): Target {
  return Object.defineProperty(target, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}
