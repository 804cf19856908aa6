// Keys and headers come from functions. They are in no state, event, checkpoint, log or error, however a request ends.
import { describe, expect, it } from 'vitest'
import { createOpenAICompatible as generation1 } from 'openai-compatible-1'
import { createOpenAICompatible as generation2 } from 'openai-compatible-2'
import { createOpenAICompatible as generation3 } from 'openai-compatible-3'
import { guardrail, memory, type Hook, type Model } from 'heddle'
import { fromAiSdk } from 'heddle/ai-sdk'
import { openAiCompatible, type OpenAiCompatibleOptions } from 'heddle/openai'
import { withFaults } from 'heddle/testing'
import { desk } from './secrets-desk.ts'
import { endpoint, KEY, TEAM, type Ending } from './secrets-server.ts'
import { witness } from './secrets-witness.ts'

const headers = { 'x-team': TEAM }
const sdk = (make: typeof generation3) => (url: string) =>
  fromAiSdk(make({ name: 'desk', baseURL: url, apiKey: KEY, headers })('small'))
const models: readonly (readonly [string, (url: string) => Model])[] = [
  [
    'heddle/openai',
    (url) =>
      openAiCompatible({
        url,
        model: 'small',
        headers: async () => ({ authorization: `Bearer ${KEY}`, ...headers }),
      }),
  ],
  ['heddle/ai-sdk, specification 2', sdk(generation1 as never)],
  ['heddle/ai-sdk, specification 3', sdk(generation2 as never)],
  ['heddle/ai-sdk, specification 4', sdk(generation3)],
]
const failures: readonly Ending[] = [
  '401',
  '429',
  '500',
  'no answer',
  'cut off',
  'unfinished',
  'no JSON',
  'error in the stream',
]

describe.each(models)('a model of %s', (_, model) => {
  it.each(failures)('tells no secret when its provider answers: %s', async (ending) => {
    await using server = await endpoint(ending)
    const teller = desk(model(server.url))
    expect(await teller.say()).toMatchObject({ code: 'model_error' })
    expect(await teller.leaks()).toEqual([])
    expectAllSent(server.seen)
    const spoke = failures.indexOf(ending) > failures.indexOf('no answer')
    const places = ['stream', 'error', 'row', 'run', 'monitor', 'presence', 'span', 'log of events']
    for (const where of [...places, ...(spoke ? ['onEvent'] : [])])
      expect(teller.seen.count(where), where).toBeGreaterThan(0)
  })

  it('tells no secret when all goes well', async () => {
    await using server = await endpoint('call', 'text')
    const teller = desk(model(server.url))
    expect(await teller.say()).toMatchObject({ status: 'success' })
    expect(await teller.leaks()).toEqual([])
    expectAllSent(server.seen)
  })

  it('tells no secret when the run is stopped in the middle of an answer', async () => {
    await using server = await endpoint('silence')
    const teller = desk(model(server.url))
    const { signal, abort } = stopper()
    const said = teller.say({ signal })
    await server.hangs
    abort()
    expect(await said).toBeInstanceOf(Error)
    expect(await teller.leaks()).toEqual([])
    expectAllSent(server.seen)
  })

  it('tells no secret when the time of the run is up', async () => {
    await using server = await endpoint('silence')
    const teller = desk(model(server.url))
    expect(await teller.say({ timeout: 100 })).toMatchObject({ name: 'TimeoutError' })
    expect(await teller.leaks()).toEqual([])
    expectAllSent(server.seen)
  })

  it.each<[string, Hook]>([
    [
      'a guardrail blocks the answer',
      guardrail({ name: 'no stories', output: () => ({ block: 'stories are over' }) }),
    ],
    [
      'a guardrail blocks the request',
      guardrail({ name: 'no requests', input: () => ({ block: 'ask nothing' }) }),
    ],
    ['a hook before it fails', { name: 'broken', beforeLlm: fails }],
    ['a hook after it fails', { name: 'broken', afterLlm: fails }],
    ['a hook on its error fails', { name: 'broken', onLlmError: fails }],
  ])('tells no secret when %s', async (_name, hook) => {
    await using server = await endpoint(hook.onLlmError ? '401' : 'text')
    const told: unknown[] = []
    const looks: Hook = {
      name: 'looks',
      beforeLlm: (inv) => void told.push(inv),
      onLlmError: (inv, error) => void told.push([inv, error]),
    }
    const teller = desk(model(server.url), { hooks: [looks, hook] })
    expect(await teller.say()).toBeInstanceOf(Error)
    teller.seen.see('hooks', told)
    expect(await teller.leaks()).toEqual([])
  })

  it('tells no secret when a tool fails', async () => {
    await using server = await endpoint('call', 'text')
    const tell = (): never => {
      throw new Error('There is no ink')
    }
    const teller = desk(model(server.url), { tell })
    expect(await teller.say()).toMatchObject({ status: 'success' })
    expect(await teller.leaks()).toEqual([])
    expectAllSent(server.seen)
  })

  it('tells no secret when its process dies and another one goes on', async () => {
    await using server = await endpoint('call', 'text')
    const store = memory()
    // In the middle of the run: the claim is one, the status another, the input's checkpoint comes with it.
    const dying = desk(model(server.url), { store: withFaults(store, [{ at: 6, crash: 'after' }]) })
    expect(await dying.say()).toMatchObject({ name: 'Crash' })
    await new Promise((resolve) => setTimeout(resolve, 150))
    const next = desk(model(server.url), { store })
    expect(await next.goOn()).toMatchObject({ status: 'success' })
    expect([...(await next.leaks()), ...dying.seen.leaks([KEY, TEAM])]).toEqual([])
    expectAllSent(server.seen)
  })
})

describe('a model of heddle/openai', () => {
  const url = 'http://127.0.0.1:9/v1'
  it.each<[string, Partial<OpenAiCompatibleOptions>]>([
    ['its headers are none', { headers: { authorization: `Bearer ${KEY}`, team: `${TEAM}\n!` } }],
    ['its headers cannot be made', { headers: () => Promise.reject(new Error(TEAM)) }],
    [
      'the URL holds the key and fetch tells it',
      {
        url: `${url}?a=${encodeURIComponent(TEAM)}&key=${KEY}`,
        fetch: async (request) => {
          const team = new URL(request.url).searchParams.get('a')
          throw new TypeError(`Cannot reach ${request.url} for ${team}`)
        },
      },
    ],
  ])('tells no secret when %s', async (_, options) => {
    const teller = desk(openAiCompatible({ url, model: 'small', ...options }))
    expect(await teller.say()).toMatchObject({ code: 'model_error' })
    expect(await teller.leaks()).toEqual([])
  })
})

describe('the witness', () => {
  it.each<[string, unknown]>([
    ['a text', `x ${KEY}`],
    ['a member', { a: [{ b: `Bearer ${KEY}` }] }],
    ['a name', { [TEAM]: 1 }],
    ['a cause', new Error('outer', { cause: new Error(TEAM) })],
    ['a hidden member', Object.defineProperty({}, 'a', { value: KEY, enumerable: false })],
    ['a map', new Map([['a', new Set([TEAM])]])],
    ['headers', { headers: new Headers({ authorization: KEY }) }],
    ['what JSON makes of it', { toJSON: () => ({ key: KEY }) }],
    ['bytes', { data: new TextEncoder().encode(`..${TEAM}`) }],
    ['base64', btoa(KEY)],
    ['base64 that begins one earlier', btoa(`?${KEY}?`)],
    ['base64 that begins two earlier', btoa(`??${KEY}??`)],
    ['a part of a URL', `http://h/?team=${encodeURIComponent(TEAM)}`],
  ])('finds a secret in %s', (_, value) => {
    const seen = witness()
    seen.see('here', value)
    expect(seen.leaks([KEY, TEAM])).not.toEqual([])
  })

  it('finds nothing in what is no secret', () => {
    const seen = witness()
    seen.see('here', [new Error('sk-other'), { team: 'plum' }, btoa('sk-canary')])
    expect(seen.leaks([KEY, TEAM])).toEqual([])
  })
})

/** The secrets were really sent, each time: else it would prove nothing. */
function expectAllSent(seen: readonly unknown[]): void {
  expect(seen.length).toBeGreaterThan(0)
  expect(seen).toEqual(seen.map(() => [`Bearer ${KEY}`, TEAM]))
}

function fails(): never {
  throw new Error('The hook is broken')
}

function stopper(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('Enough')) }
}
