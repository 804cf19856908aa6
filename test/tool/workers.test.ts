// Real workerd: one isolate, and requests that end before what they began.
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workerScript } from '../fakes/worker-script.ts'

let miniflare: Miniflare
beforeAll(async () => {
  const options = { modules: true, compatibilityDate: '2026-04-01', cf: false } as const
  miniflare = new Miniflare({ ...options, script: await worker() })
})
afterAll(() => miniflare.dispose())

const ask = async (path: string): Promise<string> =>
  (await miniflare.dispatchFetch(`http://localhost${path}`)).text()

test.each(['/tool', '/node'])(
  'nobody waits for the same work of another request: %s',
  async (path) => {
    expect(await ask(`${path}/leave`)).toBe('left')
    expect(await ask(path)).toBe('entered 2')
    expect(await ask(path)).toBe('entered 2')
  },
)

/** The Worker, in one script. */
const worker = (): Promise<string> =>
  workerScript(`
    import { answer } from './test/workerd/flights.ts'
    export default { fetch: async ({ url }) => new Response(await answer(new URL(url).pathname)) }`)
