// `openAiCompatible` over a socket of this machine, and without one.
import { memory } from 'heddle'
import { openAiCompatible } from 'heddle/openai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { chatEndpoint } from '../fakes/chat-endpoint.ts'
import { greeting, greetingEvents } from '../fakes/chat-shapes.ts'
import { overSocket, suite } from './openai.suite.ts'
import { heard } from './openai.tools.ts'

describe('over HTTP on 127.0.0.1', () => {
  for (const { name, run } of overSocket(memory)) it(name, run)
})

describe('in this process', () => {
  for (const { name, run } of suite(memory)) it(name, run)
})

describe('the platform', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('fetches as it does when it is asked, not as it did when the model was made', async () => {
    const model = openAiCompatible({ url: 'http://model.test/v1', model: 'm' })
    const { fetch, seen } = chatEndpoint({ body: greeting })
    vi.stubGlobal('fetch', fetch)
    expect((await heard(model)).events).toEqual(greetingEvents)
    expect(seen[0]?.url).toBe('http://model.test/v1/chat/completions')
  })

  it('gives a relative URL its place', async () => {
    vi.stubGlobal('location', { href: 'https://app.test/chat/?thread=7' })
    const { fetch, seen } = chatEndpoint({ body: greeting })
    const model = openAiCompatible({ url: '/api/model', model: 'm', fetch })
    await heard(model)
    expect(seen[0]?.url).toBe('https://app.test/api/model/chat/completions')
    expect(model.provider).toBe('app.test')
  })
})
