// `fromAiSdk` over a socket and without one; and that the endpoint it asks is one that the AI SDK itself takes for real.
import * as ai5 from 'ai-5'
import { MockLanguageModelV2, simulateReadableStream as simulate5 } from 'ai-5/test'
import * as ai6 from 'ai-6'
import { MockLanguageModelV3, simulateReadableStream as simulate6 } from 'ai-6/test'
import * as ai7 from 'ai-7'
import { MockLanguageModelV4 } from 'ai-7/test'
import { memory } from 'heddle'
import { fromAiSdk } from 'heddle/ai-sdk'
import { describe, expect, it } from 'vitest'
import { chatEndpoint } from '../fakes/chat-endpoint.ts'
import { greeting, oneCall } from '../fakes/chat-shapes.ts'
import { loopback } from '../fakes/loopback.ts'
import { overSocket, suite } from './ai-sdk.suite.ts'
import { providerModel, type Specification } from './ai-sdk.tools.ts'
import { eventsOf } from './openai.tools.ts'

describe('over HTTP on 127.0.0.1', () => {
  for (const { name, run } of overSocket(memory)) it(name, run)
})

describe('in this process', () => {
  for (const { name, run } of suite(memory)) it(name, run)
})

describe.each([
  ['v2', ai5],
  ['v3', ai6],
  ['v4', ai7],
] as const)('the AI SDK of %s, with the same provider and the same endpoint', (version, ai) => {
  it.each([
    ['text', greeting],
    ['a call', oneCall],
  ])('hears what we hear: %s', async (_, body) => {
    await withModel(version, body, async (model) => {
      expect(model.specificationVersion).toBe(version)
      const events = await eventsOf(fromAiSdk(model))
      const said = events.flatMap((event) => (event.kind === 'text' ? [event.delta] : [])).join('')
      const calls = events.flatMap((event) =>
        event.kind === 'call' ? [[event.tool, JSON.parse(event.raw)]] : [],
      )
      const parameters = ai.jsonSchema({ type: 'object' } as never)
      const tools = { add: { description: 'Adds', inputSchema: parameters } }
      const streamed = (ai as typeof ai6).streamText({
        model: model as never,
        prompt: 'Hi',
        tools: tools as never,
      })
      expect(await streamed.text).toBe(said)
      const theirs = await streamed.toolCalls
      expect(theirs.map((call) => [call.toolName, call.input])).toEqual(calls)
      const finish = events.at(-1)
      const { inputTokens, outputTokens } = await streamed.usage
      const ours = finish?.kind === 'finish' ? finish.usage : undefined
      expect([ours?.input, ours?.output]).toEqual([inputTokens, outputTokens])
    })
  })
})

describe("the AI SDK's own models for tests", () => {
  const finish = { type: 'finish' as const }
  const text = [
    { type: 'text-start' as const, id: '1' },
    { type: 'text-delta' as const, id: '1', delta: 'Yes' },
    { type: 'text-end' as const, id: '1' },
  ]
  const usage = {
    inputTokens: { total: 9, noCache: 9, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: undefined },
  }
  const stop = { unified: 'stop' as const, raw: 'stop' }
  const flat = { inputTokens: 9, outputTokens: 5, totalTokens: undefined }

  it.each([
    new MockLanguageModelV2({
      doStream: {
        stream: simulate5({ chunks: [...text, { ...finish, usage: flat, finishReason: 'stop' }] }),
      },
    }),
    new MockLanguageModelV3({
      doStream: {
        stream: simulate6({ chunks: [...text, { ...finish, usage, finishReason: stop }] }),
      },
    }),
    new MockLanguageModelV4({
      doStream: {
        stream: ai7.simulateReadableStream({
          chunks: [...text, { ...finish, usage, finishReason: stop }],
        }),
      },
    }),
  ])('are models of ours: %#', async (model) => {
    expect(await eventsOf(fromAiSdk(model))).toEqual([
      { kind: 'text', delta: 'Yes' },
      { kind: 'finish', reason: 'stop', usage: { input: 9, output: 5 } },
    ])
    expect(model.doStreamCalls[0]?.prompt).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ])
  })
})

async function withModel(
  version: Specification,
  body: string,
  work: (model: ReturnType<typeof providerModel>) => Promise<void>,
): Promise<void> {
  const { url, close } = await loopback(chatEndpoint({ body, cut: 11 }).fetch)
  try {
    await work(providerModel(version, { url: `${url}/v1` }))
  } finally {
    await close()
  }
}
