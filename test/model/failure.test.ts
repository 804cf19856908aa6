import { ModelError, modelError, type ModelFailure } from 'heddle'
import { describe, expect, it } from 'vitest'

const model = { provider: 'acme', model: 'small' }

it('says which model, what status, and what the provider said', () => {
  const error = modelError(model, { status: 429, said: { error: { message: 'Slow down' } } })
  expect(error).toBeInstanceOf(ModelError)
  expect(error.message).toBe(
    'Cannot ask model "acme/small": its provider answered 429, "Slow down"',
  )
  expect(error.details).toEqual({ ...model, status: 429 })
  expect(error.cause).toBeUndefined()
})

it.each([
  ['a text', 'Slow\n down', 'Slow down'],
  ['an error', new Error('Slow down'), 'Slow down'],
  [
    'an error with a cause',
    new TypeError('fetch failed', { cause: { code: 'EX' } }),
    'fetch failed (EX)',
  ],
  ['a list of details', { detail: [{ msg: 'Field required' }] }, 'Field required'],
  ['a page', '<html><style>b{}</style><title>502 Bad</title><b>Gateway</b>', '502 Bad Gateway'],
])('finds the words in %s', (_, said, words) => {
  expect(modelError(model, { said }).message).toBe(`Cannot ask model "acme/small": "${words}"`)
})

it.each([undefined, null, 7, {}, [], '', { error: {} }, circular()])('bears with %o', (said) => {
  expect(modelError(model, { said }).message).toBe(
    'Cannot ask model "acme/small": it failed, and does not say why',
  )
})

it('clips long words between characters', () => {
  const { message } = modelError(model, { said: `${'x'.repeat(298)} ${'😀'.repeat(9000)}` })
  expect(message).not.toMatch(/\p{Surrogate}/u)
  expect(message.length).toBeLessThan(350)
})

describe('what looks like a key is left out', () => {
  it.each([
    ['Incorrect API key provided: sk-proj-Ab12cd34.', 'Incorrect API key provided: ….'],
    ['got Authorization: Bearer abc.def=123', 'got Authorization: Bearer …'],
    ['GET https://x.test/v1?key=hush&alt=sse failed', 'GET https://x.test/v1?key=…&alt=sse failed'],
    ['token 0123456789abcdef0123456789abcdef is unknown', 'token … is unknown'],
    ['The model gpt-4o-mini-2024-07-18 is gone (req_011CSHoEeqs5C35)', undefined],
    ['Unrecognized key: "temperature"', undefined],
  ])('%s', (said, words = said) => {
    expect(modelError(model, { said }).message).toBe(`Cannot ask model "acme/small": "${words}"`)
  })

  it('and so is what the adapter says is one', () => {
    const failure: ModelFailure = {
      said: 'tom:pass is no user, tom:pass2 neither',
      secrets: ['tom:pass', 'tom:pass2'],
    }
    expect(modelError(model, failure).message).toContain('"… is no user, … neither"')
  })
})

describe('how long to wait', () => {
  const sent = 'Mon, 30 Nov 2026 04:00:00 GMT'
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '1200', 'retry-after': '7' }, 1200],
    [{ 'retry-after': 'Mon, 30 Nov 2026 04:00:09 GMT', date: sent }, 9000],
    [{ 'retry-after': 'Mon, 30 Nov 2026 03:00:00 GMT', date: sent }, 0],
    [{ 'retry-after': 'Sat, 01 Jan 2000 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{}, undefined],
  ])('%o', (headers, ms) => {
    expect(modelError(model, { headers: new Headers(headers) }).details.retryAfterMs).toBe(ms)
  })
})

function circular(): unknown {
  const error: { error?: unknown } = {}
  error.error = error
  return error
}
