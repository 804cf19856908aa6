// What an endpoint is asked, and with which headers.
import { openAiCompatible } from 'heddle/openai'
import { equal } from '../behaviours/portable.ts'
import { chatEndpoint } from '../fakes/chat-endpoint.ts'
import { greeting } from '../fakes/chat-shapes.ts'
import { assistant, eventsOf, result, user, type At } from './openai.tools.ts'

type Table = Readonly<Record<string, () => Promise<void>>>

const fine = { body: greeting }
const png = new Uint8Array([137, 80, 78, 71])

/** Requests as they arrive. */
export function requestCases(at: At): Table {
  const sent = (request: Parameters<typeof eventsOf>[1], options?: Parameters<At>[2]) =>
    at(
      [fine],
      async ({ model, endpoint }) => {
        await eventsOf(model, request)
        return endpoint.seen[0]!.body
      },
      options,
    )

  return {
    'the least that there is to ask': async () => {
      equal(
        await sent({}),
        {
          model: 'm',
          messages: [{ role: 'user', content: 'Hi' }],
          stream: true,
          stream_options: { include_usage: true },
        },
        'body',
      )
    },

    'everything that a request can say': async () => {
      const parameters = { type: 'object', properties: { a: { type: 'number' } } }
      const { messages, ...rest } = await sent({
        instructions: 'Be brief',
        tools: [{ name: 'add', description: 'Adds', parameters }],
        toolChoice: { tool: 'add' },
        output: { type: 'object' },
        temperature: 0,
        maxTokens: 100,
        stop: ['END'],
        seed: 7,
        extra: { top_p: 0.5, stream_options: undefined, temperature: 0.25 },
      })
      equal(
        messages,
        [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hi' },
        ],
        'messages',
      )
      equal(
        rest,
        {
          model: 'm',
          tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters } }],
          tool_choice: { type: 'function', function: { name: 'add' } },
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'output', schema: { type: 'object' } },
          },
          temperature: 0.25,
          max_tokens: 100,
          stop: ['END'],
          seed: 7,
          stream: true,
          top_p: 0.5,
        },
        'the rest',
      )
      const tool = { name: 'add', description: '', parameters }
      equal((await sent({ tools: [tool], toolChoice: 'none' }))['tool_choice'], 'none', 'none')
      equal('tool_choice' in (await sent({ toolChoice: 'required' })), false, 'without tools')
    },

    'calls and their results go in pairs, by ids that are unique': async () => {
      const call = (id: string, wireId: string, args: unknown, raw: string) => ({
        id,
        wireId,
        tool: 'add',
        raw,
        ...(args !== undefined && { args }),
      })
      const { messages } = await sent({
        messages: [
          user('Add'),
          assistant('m1', {
            text: 'Well',
            calls: [
              call('call_1', '0', { a: 1 }, '{"a": 1}'),
              call('call_2', '0', undefined, '{"a"'),
            ],
          }),
          result('call_2', 'error', 'Failed: no JSON'),
          result('call_1', 'success', '1'),
          assistant('m2', { calls: [call('call_3', '0', {}, '')] }),
          result('call_3', 'denied', 'Denied: not now'),
          assistant('m3', { text: 'So f', partial: true, calls: [call('call_4', 'x', {}, '{}')] }),
          user('Go on'),
        ],
      })
      const wire = (id: string, text: string) => ({
        id,
        type: 'function',
        function: { name: 'add', arguments: text },
      })
      equal(
        messages,
        [
          { role: 'user', content: 'Add' },
          {
            role: 'assistant',
            content: 'Well',
            tool_calls: [wire('0', '{"a": 1}'), wire('0-2', '{}')],
          },
          { role: 'tool', tool_call_id: '0', content: '1' },
          { role: 'tool', tool_call_id: '0-2', content: 'Failed: no JSON' },
          { role: 'assistant', content: null, tool_calls: [wire('0-3', '{}')] },
          { role: 'tool', tool_call_id: '0-3', content: 'Denied: not now' },
          { role: 'assistant', content: 'So f' },
          { role: 'user', content: 'Go on' },
        ],
        'messages',
      )
    },

    'images and other files': async () => {
      const files = [
        { mediaType: 'image/png', data: png },
        { mediaType: 'image/jpeg', data: 'https://pictures.test/a.jpg' },
        { mediaType: 'audio/wav', data: png },
        { mediaType: 'application/pdf', data: png },
        { mediaType: 'text/plain', data: new TextEncoder().encode('Grüße') },
      ]
      const { messages } = await sent({ messages: [{ ...user('See'), files } as never] })
      equal(
        (messages as { content: unknown }[])[0]!.content,
        [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
          { type: 'image_url', image_url: { url: 'https://pictures.test/a.jpg' } },
          { type: 'input_audio', input_audio: { data: 'iVBORw==', format: 'wav' } },
          {
            type: 'file',
            file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,iVBORw==' },
          },
          { type: 'text', text: 'Grüße' },
        ],
        'content',
      )
      const large = { mediaType: 'image/png', data: new Uint8Array(300_000).fill(255) }
      const body = await sent({ messages: [{ ...user(''), files: [large] } as never] })
      equal(JSON.stringify(body).includes(`base64,${'////'.repeat(100_000)}"`), true, 'large')
    },

    'reasoning goes back within its turn, and only where it is wanted': async () => {
      const thinking = (id: string) =>
        assistant(id, {
          reasoning: `Hm ${id}`,
          calls: [{ id, wireId: id, tool: 'add', args: {}, raw: '{}' }],
        })
      const messages = [
        user('1'),
        thinking('c1'),
        result('c1', 'success', '1'),
        user('2'),
        thinking('c2'),
        result('c2', 'success', '2'),
      ]
      const thoughts = async (reasoning?: string) =>
        (
          (await sent({ messages }, reasoning ? { reasoning } : {}))['messages'] as object[]
        ).flatMap((one) => ('reasoning_content' in one ? [one.reasoning_content] : []))
      equal(await thoughts('reasoning_content'), ['Hm c2'], 'wanted')
      equal(await thoughts(), [], 'not wanted')
    },

    'the URL may end in a slash, and have a query': async () => {
      for (const [end, path] of [
        ['/v1', '/v1/chat/completions'],
        ['/v1/', '/v1/chat/completions'],
        ['/v1?api-version=7', '/v1/chat/completions?api-version=7'],
        ['', '/chat/completions'],
      ] as const) {
        const { fetch, seen } = chatEndpoint(fine)
        const url = `http://model.test${end}`
        const model = openAiCompatible({
          url: path.length % 2 ? url : new URL(url),
          model: 'm',
          fetch,
        })
        await eventsOf(model)
        equal(seen[0]!.url, `http://model.test${path}`, end)
        equal(model.provider, 'model.test', 'provider')
      }
    },

    'headers are asked for with every request': async () => {
      let count = 0
      const headers = async () => ({ authorization: `Bearer key-${++count}`, 'x-team': 'a' })
      await at(
        [fine],
        async ({ model, endpoint }) => {
          equal(count, 0, 'not before')
          await eventsOf(model)
          await eventsOf(model)
          equal(
            endpoint.seen.map((one) => [
              one.headers.get('authorization'),
              one.headers.get('x-team'),
            ]),
            [
              ['Bearer key-1', 'a'],
              ['Bearer key-2', 'a'],
            ],
            'headers',
          )
          equal(endpoint.seen[0]!.headers.get('content-type'), 'application/json', 'type')
        },
        { headers },
      )
    },
  }
}
