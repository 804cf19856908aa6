// Requests that are stopped once their model has said everything, and before what it said is kept.
import { expect, test } from 'vitest'
import {
  compile,
  type CompileOptions,
  type Context,
  type Generate,
  type Hook,
  type Reply,
} from 'heddle'
import { INSIDE } from '../../src/hook/mark.ts'
import { ask } from '../../src/engine/generate.ts'
import type { NodeInside } from '../../src/tool/inside.ts'
import { all, failure, keepBooks } from '../behaviours/harness.ts'
import { calling } from '../behaviours/calls-parts.ts'
import { silent } from '../fakes/silent.ts'
import { never, says, telling, text } from '../model/parts.ts'

keepBooks()

/** Stops a run where it hangs; gives what was left of a message at that very moment, and what the run used. */
async function stopped(
  place: (hang: () => Promise<never>) => CompileOptions & { readonly request?: object },
  end: 'abort' | 'throw' = 'abort',
) {
  const parts: unknown[] = []
  const caller = new AbortController()
  let begun = (): void => {}
  const hangs = new Promise<void>((resolve) => (begun = resolve))
  const hang = (): Promise<never> => {
    begun()
    return end === 'throw' ? Promise.reject(new Error('no')) : never()
  }
  const { request, ...options } = place(hang)
  const finish = { kind: 'finish', reason: 'stop', usage: { input: 3 } }
  const model = says([text('{"n":'), text('1}'), finish])
  const app = compile(
    calling((ctx: Context) =>
      ask(
        (ctx as unknown as { [INSIDE]: NodeInside })[INSIDE].calls,
        model,
        { messages: 'hi', ...request } as Generate,
        { onPartial: (message) => void parts.push(message) },
      ),
    ),
    { logger: silent, ...options },
  )
  const outcome = failure(app.run({ thread: 't', input: {}, signal: caller.signal }))
  await hangs
  if (end === 'abort') caller.abort(new Error('enough'))
  const atOnce = [...parts]
  await outcome
  expect(parts).toEqual(atOnce)
  const [run] = await all(app.runs('t'))
  return { parts, status: run?.status, usage: run?.usage }
}

const usage = { input: 3, total: 3, requests: 1 }
const part = {
  ...{ role: 'assistant', text: '{"n":1}', partial: true, model: 'p/m' },
  usage,
}

const slow = (work: () => unknown) => {
  const schema = telling<{ n: number }>(() => undefined)
  const standard = { ...schema['~standard'], validate: work }
  return { '~standard': standard }
}

for (const [where, place] of [
  ['whoever listens has its end', (hang) => ({ request: { onEvent: lastly(hang) } })],
  ['its answer is validated', (hang) => ({ request: { output: slow(hang) } })],
  [
    'the cache keeps it',
    (hang) => ({
      request: { cache: true },
      cache: { get: async () => undefined, set: hang, delete: async () => {} },
    }),
  ],
  ['a hook looks at it', (hang) => ({ hooks: [{ afterLlm: hang } as Hook] })],
] as readonly (readonly [string, Parameters<typeof stopped>[0]])[])
  test(`a run that is stopped while ${where} has used it, and leaves what was said`, async () => {
    expect(await stopped(place)).toEqual({ parts: [part], status: 'cancelled', usage })
  })

test('what is left is what hooks made of it, and nothing of what they refused', async () => {
  const masks: Hook = {
    afterLlm: (_, { message: __, ...reply }) =>
      ({ ...reply, text: '{"n":2}' }) as unknown as Reply<unknown>,
  }
  const masked = await stopped((hang) => ({ hooks: [masks], request: { output: slow(hang) } }))
  expect(masked.parts).toEqual([{ ...part, text: '{"n":2}' }])
  const hooks = (hang: () => Promise<never>): Hook[] => [{ afterLlm: hang }]
  const refused = await stopped((hang) => ({ hooks: hooks(hang) }), 'throw')
  expect(refused).toEqual({ parts: [], status: 'error', usage })
})

function lastly(hang: () => unknown): Generate['onEvent'] {
  return ({ kind }) => (kind === 'finish' ? (hang() as Promise<never>) : undefined)
}
