// Models of one's own: what they hold and what they throw is theirs. The core keeps and tells the least of it.
import { expect, it } from 'vitest'
import * as z from 'zod'
import { compile, graph, memory, storeCache, type Model, type ModelEvent } from 'heddle'
import { openAiCompatible } from 'heddle/openai'
import { silent } from '../fakes/silent.ts'
import { desk } from './secrets-desk.ts'
import { endpoint, KEY, TEAM } from './secrets-server.ts'
import { watched, witness } from './secrets-witness.ts'

/** An error as HTTP clients make them: it has the request with all its headers. */
class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly config = { headers: { authorization: `Bearer ${KEY}` } }
  readonly request = { team: TEAM }
}

it('what a model throws is for the caller in this process; all that is kept and told of it is its name', async () => {
  const errors = [
    new ClientError('The answer was 401'),
    new Error(`No access with ${KEY}`, { cause: TEAM }),
  ]
  for (const error of errors) {
    const teller = desk(failing(error))
    expect(await teller.say()).toMatchObject({ code: 'model_error', cause: error })
    const leaks = await teller.leaks()
    expect(leaks.length).toBeGreaterThan(0)
    expect(leaks.filter((leak) => !/^error\.cause\b/.test(leak))).toEqual([])
    const message = `Cannot ask model "own/careless": it failed with ${error.name}`
    for await (const run of teller.app.runs('t'))
      expect(run.error).toEqual({ name: 'ModelError', code: 'model_error', message })
  }
})

it('what a model holds is kept and told nowhere', async () => {
  const holding = { apiKey: KEY, headers: new Headers({ 'x-team': TEAM }), ...saying('done') }
  const teller = desk(holding)
  expect(await teller.say()).toMatchObject({ status: 'success' })
  expect(await teller.leaks()).toEqual([])
})

it('an answer that is kept in a cache has no secret in its key or with it', async () => {
  await using server = await endpoint('text')
  const seen = witness()
  const cache = storeCache(watched(memory(), seen))
  const model = openAiCompatible({
    url: server.url,
    model: 'small',
    headers: { authorization: `Bearer ${KEY}`, 'x-team': TEAM },
  })
  const told = graph({
    name: 'told',
    state: { text: z.string().default('') },
    nodes: {
      tell: async (_, ctx) => {
        const request = { messages: 'Once?', cache: true }
        return { text: (await ctx.generate(model, request)).text }
      },
    },
    edges: { start: 'tell', tell: 'end' },
  })
  const app = compile(told, { store: watched(memory(), seen), cache, logger: silent })
  for (const thread of ['a', 'b'])
    expect((await app.run({ thread, input: {} })).state.text).toBe('Once upon a time.')
  expect(server.seen).toHaveLength(1)
  expect(seen.count('row')).toBeGreaterThan(0)
  expect(seen.leaks([KEY, TEAM])).toEqual([])
})

function failing(error: Error): Model {
  return {
    provider: 'own',
    model: 'careless',
    async *stream(): AsyncGenerator<ModelEvent> {
      yield { kind: 'text', delta: 'Once ' }
      throw error
    },
  }
}

function saying(delta: string): Model {
  return {
    provider: 'own',
    model: 'careful',
    async *stream(): AsyncGenerator<ModelEvent> {
      yield { kind: 'text', delta }
      yield { kind: 'finish', reason: 'stop' }
    },
  }
}
