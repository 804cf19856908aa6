// What a provider is asked: the options of its call by hand, and what real ones make of them.
import type { Message } from 'heddle'
import { equal } from '../behaviours/portable.ts'
import { bodyOf, callOf, type Specification } from './ai-sdk.tools.ts'
import { assistant, result, user } from './openai.tools.ts'

const png = new Uint8Array([137, 80, 78, 71])
const parameters = { type: 'object', properties: { a: { type: 'number' } } }

const call = (id: string, wireId: string, args?: unknown) => ({
  id,
  wireId,
  tool: 'add',
  raw: JSON.stringify(args) ?? '{"a"',
  ...(args !== undefined && { args }),
})

const history: readonly Message[] = [
  user('Add'),
  assistant('m1', {
    text: 'Well',
    reasoning: 'Long ago',
    calls: [call('call_1', '0', { a: 1 }), call('call_2', '0')],
  }),
  result('call_2', 'error', 'Failed: no JSON'),
  result('call_1', 'success', '1'),
  assistant('m2', { text: 'So f', partial: true, calls: [call('call_3', 'x', {})] }),
  user('Go on'),
  assistant('m3', { reasoning: 'Hm', calls: [call('call_4', '0', {})] }),
  result('call_4', 'denied', 'Denied: not now'),
]

/** Requests in the form of a generation. */
export function requestCases(
  specification: Specification,
): Readonly<Record<string, () => Promise<void>>> {
  return {
    'a history becomes a prompt, its calls and results in pairs': async () => {
      const { prompt } = await callOf(specification, {
        instructions: 'Be brief',
        messages: history,
      })
      const outcome = (toolCallId: string, output: object) => ({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName: 'add', output }],
      })
      const asked = (toolCallId: string, input: object) => ({
        type: 'tool-call',
        toolCallId,
        toolName: 'add',
        input,
      })
      const text = (words: string) => ({ type: 'text', text: words })
      equal(
        prompt,
        [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: [text('Add')] },
          { role: 'assistant', content: [text('Well'), asked('0', { a: 1 }), asked('0-2', {})] },
          outcome('0', { type: 'text', value: '1' }),
          outcome('0-2', { type: 'error-text', value: 'Failed: no JSON' }),
          { role: 'assistant', content: [text('So f')] },
          { role: 'user', content: [text('Go on')] },
          { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm' }, asked('0-3', {})] },
          outcome(
            '0-3',
            specification === 'v2'
              ? { type: 'error-text', value: 'Denied: not now' }
              : { type: 'execution-denied', reason: 'Denied: not now' },
          ),
        ],
        'prompt',
      )
    },

    'the provider makes a request of it that an endpoint takes': async () => {
      const { messages } = await bodyOf(specification, {
        instructions: 'Be brief',
        messages: history,
      })
      const wire = (id: string, args: string) => ({
        id,
        type: 'function',
        function: { name: 'add', arguments: args },
      })
      const plain = (messages as Record<string, unknown>[]).map(
        ({ reasoning_content: _, ...rest }) => rest,
      )
      // What stands for no text differs between generations.
      const said = plain.map((one) => ({ ...one, content: one['content'] || null }))
      equal(
        said.map(sorted),
        [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Add' },
          {
            role: 'assistant',
            content: 'Well',
            tool_calls: [wire('0', '{"a":1}'), wire('0-2', '{}')],
          },
          { role: 'tool', tool_call_id: '0', content: '1' },
          { role: 'tool', tool_call_id: '0-2', content: 'Failed: no JSON' },
          { role: 'assistant', content: 'So f' },
          { role: 'user', content: 'Go on' },
          { role: 'assistant', content: null, tool_calls: [wire('0-3', '{}')] },
          { role: 'tool', tool_call_id: '0-3', content: 'Denied: not now' },
        ].map(sorted),
        'messages',
      )
    },

    'files go in the form of the generation': async () => {
      const files = [
        { mediaType: 'image/png', data: png },
        { mediaType: 'image/png', data: 'data:image/png;base64,iVBORw==' },
        { mediaType: 'image/jpeg', data: 'https://pictures.test/a.jpg' },
      ]
      const messages = [{ ...user('See'), files } as Message, { ...user(''), files } as Message]
      const [first, second] = (await callOf(specification, { messages }))['prompt'] as {
        content: { type: string; data?: unknown }[]
      }[]
      const url = new URL('https://pictures.test/a.jpg')
      const data = [png, 'iVBORw==', url]
      const forms = { type: 'data', data: png }
      equal(
        first!.content
          .slice(1)
          .map((part) => String((part.data as { url?: URL }).url ?? part.data)),
        specification === 'v4'
          ? ['[object Object]', '[object Object]', url.href]
          : data.map(String),
        'data',
      )
      if (specification === 'v4') equal(first!.content[1]!.data, forms, 'bytes')
      equal(second!.content.length, 3, 'no empty text')
      const { messages: sent } = await bodyOf(specification, { messages: messages.slice(0, 1) })
      equal(
        (sent as { content: unknown }[])[0]!.content,
        [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
          { type: 'image_url', image_url: { url: 'https://pictures.test/a.jpg' } },
        ],
        'as sent',
      )
    },

    'everything else that a request can say': async () => {
      const request = {
        messages: [user('Hi')],
        tools: [{ name: 'add', description: 'Adds', parameters }],
        toolChoice: { tool: 'add' },
        output: { type: 'object', properties: {} },
        temperature: 0,
        maxTokens: 100,
        stop: ['END'],
        seed: 7,
        extra: { topP: 0.5, temperature: 1, acme: { user: 'ann' }, openai: { store: false } },
      } as const
      const { prompt: _, abortSignal, ...options } = await callOf(specification, request)
      equal(abortSignal instanceof AbortSignal, true, 'signal')
      equal(
        sorted(options),
        sorted({
          providerOptions: { acme: { user: 'ann' }, openai: { store: false } },
          tools: [{ type: 'function', name: 'add', description: 'Adds', inputSchema: parameters }],
          toolChoice: { type: 'tool', toolName: 'add' },
          responseFormat: { type: 'json', name: 'output', schema: request.output },
          temperature: 0,
          maxOutputTokens: 100,
          stopSequences: ['END'],
          seed: 7,
          topP: 0.5,
        }),
        'options',
      )
      const body = await bodyOf(specification, request)
      const { tools, tool_choice, temperature, max_tokens, stop, seed, top_p, user: who } = body
      equal(
        { temperature, max_tokens, stop, seed, top_p, who },
        { temperature: 0, max_tokens: 100, stop: ['END'], seed: 7, top_p: 0.5, who: 'ann' },
        'as sent',
      )
      equal(tool_choice, { type: 'function', function: { name: 'add' } }, 'tool choice')
      equal((tools as unknown[]).length, 1, 'tools')
      equal((body['response_format'] as { type: string }).type, 'json_schema', 'format')
      const least = await callOf(specification, { toolChoice: 'required', extra: {} })
      equal(
        Object.keys(least).toSorted(),
        ['abortSignal', 'prompt', 'providerOptions'],
        'the least',
      )
      const choice = await callOf(specification, { ...request, toolChoice: 'none' })
      equal(choice['toolChoice'], { type: 'none' }, 'none')
    },
  }
}

function sorted(record: object): object {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
