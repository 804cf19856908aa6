import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode, encode, read, same, Unreadable, write } from '../../src/durable/codec.ts'
import { alike, objectsIn } from './codec-alike.ts'

const units = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
  .map((list) => String.fromCharCode(...list))
const text = fc.oneof(fc.string(), units)
const keys = fc.oneof(
  text,
  fc.constantFrom('__proto__', 'constructor', 'toString', 'length', 'cause', 'errors', '0', '1'),
)
const buffers = fc.uint8Array({ maxLength: 32 })
const views = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
]
const classes = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError]

const { value: values } = fc.letrec<{ value: unknown; record: Record<string, unknown> }>((tie) => ({
  record: fc.array(fc.tuple(keys, tie('value')), { maxLength: 4 }).map(recordOf),
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(
      text,
      fc.boolean(),
      fc.constantFrom(null, undefined, -0, Number.NaN, Infinity, -Infinity),
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.date({ noInvalidDate: false }),
      buffers,
      buffers.map((bytes) => bytes.buffer),
      buffers.map((bytes) => new DataView(bytes.buffer)),
      fc
        .tuple(fc.constantFrom(...views), buffers)
        .map(
          ([View, bytes]) =>
            new View(bytes.buffer.slice(0, bytes.length - (bytes.length % 8)) as ArrayBuffer),
        ),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('record'),
    fc
      .array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 })
      .map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
    fc
      .tuple(
        fc.constantFrom(...classes),
        text,
        fc.option(text, { nil: undefined }),
        tie('value'),
        tie('record'),
      )
      .map(([Class, message, name, cause, fields]) => {
        const error = new Class(message, cause === undefined ? {} : { cause })
        if (name !== undefined)
          Object.defineProperty(error, 'name', { value: name, configurable: true })
        delete fields['cause']
        // Those must be texts: codec-refused has what isn't.
        for (const key of ['name', 'message'])
          if (typeof fields[key] !== 'string') delete fields[key]
        return Object.defineProperties(error, Object.getOwnPropertyDescriptors(fields))
      }),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 3 }), text)
      .map(([errors, message]) => new AggregateError(errors, message)),
  ),
}))

const known = new Set<unknown>(
  [Object, Array, Map, Set, Date, ArrayBuffer, DataView, AggregateError, ...views, ...classes].map(
    (each) => each.prototype,
  ),
)

describe('any value of the types that can be stored', () => {
  it('comes back as it was, in process and through text', () => {
    fc.assert(
      fc.property(values, (value) => {
        const cell = encode(value)
        const reloaded = read(JSON.parse(JSON.stringify(write(cell))))
        expect(alike(decode(cell), value)).toBe(true)
        expect(alike(decode(reloaded), value)).toBe(true)
        expect(same(cell, reloaded) && same(cell, encode(decode(reloaded)))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('shares nothing with its cell, its input or another reader', () => {
    fc.assert(
      fc.property(values, (value) => {
        const cell = encode(value)
        const sets = [value, cell, decode(cell), decode(cell)].map((each) => objectsIn(each))
        expect(new Set(sets.flatMap((set) => [...set])).size).toBe(
          sets.reduce((sum, set) => sum + set.size, 0),
        )
      }),
      { numRuns: 500 },
    )
  })

  it("isn't the same as another one", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        if (same(encode(a), encode(b)))
          expect(JSON.stringify(write(encode(a))).length).toBe(
            JSON.stringify(write(encode(b))).length,
          )
        else expect(alike(a, b)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it('gives a value of known classes or is unreadable when a byte of its text flips', () => {
    const before = Reflect.ownKeys(Object.prototype).length
    fc.assert(
      fc.property(values, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, position, mask) => {
        const stored = new TextEncoder().encode(JSON.stringify(write(encode(value))))
        stored[position % stored.length]! ^= mask
        const found = readAny(new TextDecoder().decode(stored))
        for (const part of objectsIn(found))
          expect(known.has(Object.getPrototypeOf(part))).toBe(true)
        expect(Reflect.ownKeys(Object.prototype)).toHaveLength(before)
      }),
      { numRuns: 3000 },
    )
  })

  it('gives a value of known classes or is unreadable when its tags are shuffled, cut or swapped', () => {
    fc.assert(
      fc.property(values, values, fc.nat(), fc.nat(), (one, other, cut, turn) => {
        const [a, b] = [write(encode(one)), write(encode(other))]
        if (!Array.isArray(a) || !Array.isArray(b) || !Array.isArray(b[1])) return
        const tags = [...b[1].slice(turn % b[1].length), ...b[1]].slice(
          0,
          1 + (cut % (2 * b[1].length)),
        )
        for (const row of [
          [a[0], tags],
          [b[0], tags],
        ]) {
          for (const part of objectsIn(readAny(JSON.stringify(row))))
            expect(known.has(Object.getPrototypeOf(part))).toBe(true)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

function readAny(json: string): unknown {
  try {
    return decode(read(JSON.parse(json)))
  } catch (error) {
    expect(error instanceof Unreadable || error instanceof SyntaxError).toBe(true)
    return undefined
  }
}

function recordOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const record = {}
  for (const [key, value] of entries)
    Object.defineProperty(record, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return record
}
