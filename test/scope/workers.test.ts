// Real workerd with the flags that decide whether there is an AsyncLocalStorage: one isolate, one request after the other.
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../workerd/kept.ts'
import { workerScript } from '../fakes/worker-script.ts'

const REFUSED = 'ToolUsageError'
const OTHER = 'belongs to another request. Make one per request, or per Durable Object'

describe.each([
  { flags: [], carries: false },
  // It has one that only an `import()` reaches, which comes too late for the first call.
  { flags: ['nodejs_als'], carries: false },
  { flags: ['nodejs_compat'], carries: true },
])('in workerd with the flags $flags', ({ flags, carries }) => {
  let miniflare: Miniflare
  beforeAll(async () => {
    const script = await worker()
    const options = { modules: true, compatibilityDate: '2026-04-01', cf: false } as const
    miniflare = new Miniflare({ ...options, script, compatibilityFlags: flags })
  })
  afterAll(() => miniflare.dispose())
  const ask = async (path: string): Promise<Answer> => {
    const response = await miniflare.dispatchFetch(`http://localhost${path}`)
    return (await response.json()) as Answer
  }

  test('a runner that was warmed in another request is refused, and a new one is not', async () => {
    expect(await ask('/runner/run')).toEqual({ value: false })
    for (const [path, what] of [
      ['/runner/run', 'run work'],
      ['/runner/close', 'close a LoopRunner'],
    ] as const)
      expect(await ask(path)).toEqual({
        name: REFUSED,
        message: `Cannot ${what}: this LoopRunner was warmed in another request. Make one per request, or per Durable Object`,
      })
    await ask('/runner/new')
    expect(await ask('/runner/run')).toEqual({ value: false })
  })

  test('a client kept past its request by its scope is refused; each request has its own', async () => {
    expect(await ask('/scope/keep')).toEqual({ value: false })
    for (const path of ['/scope/get', '/scope/defer', '/scope/close'])
      expect(await ask(path)).toEqual({ name: REFUSED, message: `Cannot use a scope: it ${OTHER}` })
    expect(await ask('/scope/own')).toEqual({ value: false })
    expect(await ask('/scope/own')).toEqual({ value: false })
    await ask('/scope/ended')
    expect(await ask('/scope/get')).toMatchObject({ name: REFUSED })
  })

  test('the platform would refuse a client of another request, in its own words', async () => {
    expect(await ask('/client/keep')).toEqual({ value: false })
    expect(await ask('/client/ask')).toEqual({
      name: 'Error',
      message: expect.stringContaining('on behalf of a different request'),
    })
  })

  test('a context that a request left open is nobody elses', async () => {
    expect(await ask('/context/open')).toEqual({ value: 'open' })
    expect(await ask('/context')).toEqual({ value: true })
    expect(await ask('/context/mine')).toEqual(
      carries
        ? { value: 'mine' }
        : { name: REFUSED, message: expect.stringContaining('Pass ctx on instead') },
    )
  })
})

/** The Worker, in one script. */
const worker = (): Promise<string> =>
  workerScript(`
    import { answer } from './test/workerd/kept.ts'
    export default { fetch: async ({ url }) => Response.json(await answer(new URL(url).pathname)) }`)
