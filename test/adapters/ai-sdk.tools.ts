// The providers of each generation of the AI SDK, as they are published, and models that are written by hand.
import type { Model } from 'heddle'
import { fromAiSdk, type AiSdkModel } from 'heddle/ai-sdk'
import { createOpenAICompatible as one } from 'openai-compatible-1'
import { createOpenAICompatible as two } from 'openai-compatible-2'
import { createOpenAICompatible as three } from 'openai-compatible-3'
import { chatEndpoint } from '../fakes/chat-endpoint.ts'
import { greeting } from '../fakes/chat-shapes.ts'
import { eventsOf, heard, type Heard, type Options } from './openai.tools.ts'

export type Specification = 'v2' | 'v3' | 'v4'

const makers = { v2: one, v3: two, v4: three }
export const specifications = Object.keys(makers) as Specification[]

/** A provider model of that specification: `@ai-sdk/openai-compatible` 1, 2 or 3. */
export function providerModel(specification: Specification, { url, fetch, headers }: Options) {
  const make = makers[specification]
  return make({
    name: 'acme',
    baseURL: String(url),
    includeUsage: true,
    supportsStructuredOutputs: true,
    headers: (headers as Record<string, string>) ?? {},
    ...(fetch && {
      fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(new Request(input, init)),
    }),
  })('m')
}

/** Ours, of such a one. */
export const makerOf =
  (specification: Specification) =>
  (options: Options): Model =>
    fromAiSdk(providerModel(specification, options))

/** A model that says these parts, and what it was asked. */
export function handMade(
  specification: string,
  parts: readonly unknown[],
): AiSdkModel & { readonly asked: Record<string, unknown>[]; readonly left: Promise<void> } {
  const asked: Record<string, unknown>[] = []
  let leave: () => void
  const left = new Promise<void>((resolve) => (leave = resolve))
  return {
    specificationVersion: specification,
    provider: 'acme.chat',
    modelId: 'm',
    asked,
    left,
    async doStream(options: never) {
      asked.push(options)
      let n = 0
      const stream = new ReadableStream<unknown>({
        pull(controller) {
          if (n < parts.length) controller.enqueue(parts[n++])
          else controller.close()
        },
        cancel: () => leave(),
      })
      return { stream }
    },
  }
}

/** What comes of a stream of parts. */
export const partsHeard = (specification: string, ...parts: readonly unknown[]): Promise<Heard> =>
  heard(fromAiSdk(handMade(specification, parts)))

/** The options of a call, as a model of that specification gets them. */
export async function callOf(
  specification: string,
  request: Parameters<typeof eventsOf>[1],
): Promise<Record<string, unknown>> {
  const model = handMade(specification, [])
  await heard(fromAiSdk(model), request)
  return model.asked[0]!
}

/** The body that the real provider makes of a request. */
export async function bodyOf(
  specification: Specification,
  request: Parameters<typeof eventsOf>[1],
): Promise<Readonly<Record<string, unknown>>> {
  const { fetch, seen } = chatEndpoint({ body: greeting })
  await eventsOf(makerOf(specification)({ url: 'http://model.test/v1', fetch }), request)
  return seen[0]!.body
}
