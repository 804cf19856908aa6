import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Interruption } from '../../src/durable/records.ts'
import { question } from '../../src/graph/question.ts'
import { approval } from '../../src/tool/approval.ts'

const answer = z.object({ ok: z.boolean() })
const refund = question({ key: 'refund', payload: z.object({ amount: z.number() }), answer })

describe('a question', () => {
  it('keeps its key and its schemas', () => {
    expect(refund).toMatchObject({ key: 'refund', schema: answer })
    expect(refund.payload).toBeDefined()
    expect(question({ key: 'bare', answer })).not.toHaveProperty('payload')
  })

  it('knows the interruptions that ask it', () => {
    expect(refund.is(asked('refund'))).toBe(true)
    expect(refund.is(asked('other'))).toBe(false)
    expect(refund.is(asked())).toBe(false)
  })

  it('makes the answers for one interruption', () => {
    expect(refund.reply(asked('refund'), { ok: false })).toEqual({ int_1: { ok: false } })
  })

  it.each([undefined, null, {}])('makes none for %o, which is no interruption', (nothing) => {
    for (const { reply } of [refund, approval])
      expect(() => reply(nothing as never, {} as never)).toThrow(
        new TypeError('Cannot reply: there is no interruption'),
      )
  })

  it('works without its object', () => {
    const { is, reply } = refund
    expect(is(asked('refund'))).toBe(true)
    expect(reply(asked('refund'), { ok: true })).toEqual({ int_1: { ok: true } })
  })

  it.each([undefined, '', 7])('is refused with %j for a key', (key) => {
    expect(() => question({ key: key as string, answer })).toThrow(
      new TypeError('Cannot declare a question: its key is not a non-empty string'),
    )
  })

  it.each([undefined, {}, 'yes'])('is refused with %j for an answer', (other) => {
    expect(() => question({ key: 'q', answer: other as never })).toThrow(
      new TypeError('Cannot declare question "q": its answer is not a schema'),
    )
  })
})

function asked(key?: string): Interruption {
  return {
    id: 'int_1',
    thread: 't',
    run: 'r',
    checkpoint: 'c',
    ns: [],
    node: 'a',
    ...(key !== undefined && { key }),
    payload: { amount: 3 },
    status: 'open',
    createdAt: '2026-03-01T08:00:00.000Z',
  }
}
