// What may be answered to an approval, and what is recorded of it.
import { approval, question, type ApprovalAnswer, type Interruption } from 'heddle'
import { expect, it } from 'vitest'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

const check = (answer: unknown): unknown => approval.schema['~standard'].validate(answer)

it.each<ApprovalAnswer>([
  { approve: true },
  { approve: true, args: { to: 'ann' } },
  { approve: true, args: null, remember: true },
  { approve: true, remember: false },
  { approve: false },
  { approve: false, reason: '' },
  { approve: false, reason: 'not now', remember: true },
])('takes %j as it is', (answer) => {
  expect(check(answer)).toEqual({ value: answer })
})

it.each([true, false, undefined, 'yes', '', 0])('refuses %j, and says what is one', (answer) => {
  const message = 'Expected { approve: true } or { approve: false }'
  expect(check(answer)).toEqual({ issues: [{ message }] })
})

it.each([
  [null, ['approve']],
  [[], ['approve']],
  [{}, ['approve']],
  [{ approve: 'true' }, ['approve']],
  [{ approve: 1 }, ['approve']],
  [{ approve: null }, ['approve']],
  [{ approved: true }, ['approve']],
  [{ approve: true, aprove: false }, ['aprove']],
  [{ approve: true, reason: 'fine' }, ['reason']],
  [{ approve: false, args: {} }, ['args']],
  [{ approve: false, reason: 7 }, ['reason']],
  [{ approve: false, reason: null }, ['reason']],
  [{ approve: true, remember: 'tool' }, ['remember']],
  [{ approve: true, remember: 1 }, ['remember']],
  [JSON.parse('{"approve":true,"__proto__":{"remember":true}}'), ['__proto__']],
  [{ approve: false, constructor: 1 }, ['constructor']],
])('refuses %j, and says where it is wrong', (answer, path) => {
  expect(check(answer)).toEqual({ issues: [{ message: expect.any(String), path }] })
})

it('a member that is undefined is one that is not there', () => {
  const answer = { approve: false, args: undefined, reason: undefined, remember: undefined }
  expect(check(answer)).toEqual({ value: answer })
})

it('says as JSON Schema what it takes, so that a form can be made', () => {
  const standard = approval.schema['~standard'] as unknown as {
    jsonSchema: Record<'input' | 'output', (options: { target: string }) => object>
  }
  for (const side of ['input', 'output'] as const)
    expect(standard.jsonSchema[side]({ target: 'draft-2020-12' })).toMatchObject({
      anyOf: [
        { properties: { approve: { const: true }, args: {} }, additionalProperties: false },
        { properties: { approve: { const: false } }, additionalProperties: false },
      ],
    })
})

it('knows an approval by its id, not by a key, which may be anybody’s', () => {
  const asked = { id: 'apr_1', key: 'approval' } as Interruption
  expect(approval.is(asked)).toBe(true)
  expect(approval.is({ ...asked, id: 'int_1' })).toBe(false)
  expect(question({ key: 'approval', answer: approval.schema }).is(asked)).toBe(true)
  expect(approval.reply(asked, { approve: true })).toEqual({ apr_1: { approve: true } })
})
