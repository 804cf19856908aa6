import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { append, merge, reduced, sum } from '../../src/graph/state.ts'

it('reduced keeps the schema and the reducer', () => {
  const schema = z.number()
  expect(reduced(schema, sum)).toEqual({ schema, reduce: sum })
})

describe('append', () => {
  it('adds the items of the update at the end', () => {
    expect(append([1], [2, 3])).toEqual([1, 2, 3])
    expect(append([], [])).toEqual([])
  })

  it('adds lists as items of a list of lists', () => {
    expect(append([[1]], [[2, 3]])).toEqual([[1], [2, 3]])
  })

  it('changes neither', () => {
    const [current, update] = [Object.freeze([1]), Object.freeze([2])]
    expect(append(current as number[], update)).toEqual([1, 2])
  })

  it('takes more items than a call takes arguments', () => {
    expect(
      append(
        [0],
        Array.from({ length: 300_000 }, (_, at) => at),
      ),
    ).toHaveLength(300_001)
  })
})

describe('merge', () => {
  it('sets the keys of the update and leaves the others', () => {
    expect(merge({ a: 1, b: 2 }, { b: 3, c: 4 })).toEqual({ a: 1, b: 3, c: 4 })
  })

  it('changes neither', () => {
    expect(merge<number>(Object.freeze({ a: 1 }), Object.freeze({ b: 2 }))).toEqual({ a: 1, b: 2 })
  })

  it('takes "__proto__" for an ordinary key, on both sides', () => {
    const hostile = (): Record<string, unknown> =>
      JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}')
    for (const merged of [
      merge({}, hostile()),
      merge(hostile(), { a: 1 }),
      merge(hostile(), hostile()),
    ]) {
      expect(Object.hasOwn(merged, '__proto__')).toBe(true)
      expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
      expect(merged['admin']).toBeUndefined()
    }
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})

it('sum adds', () => {
  expect(sum(1, 2)).toBe(3)
  expect(sum(1, -1)).toBe(0)
})
