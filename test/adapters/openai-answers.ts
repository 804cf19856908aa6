// What a model makes of the answers of an endpoint.
import { equal } from '../behaviours/portable.ts'
import {
  callShapes,
  callStream,
  chunk,
  greeting,
  greetingEvents,
  oneCall,
  piece,
  sse,
  usage,
} from '../fakes/chat-shapes.ts'
import { eventsOf, heard, type At } from './openai.tools.ts'

type Table = Readonly<Record<string, () => Promise<void>>>

const json = { 'content-type': 'application/json' }

/** Streams, and what is none. */
export function answerCases(at: At): Table {
  const events = (body: string, headers?: Record<string, string>) =>
    at([{ body, ...(headers && { headers }) }], ({ model }) => eventsOf(model))

  return {
    'an answer is the same however its bytes are cut': async () => {
      for (const cut of [1, 2, 3, 5, 7, 11, 64, 1000]) {
        const heardOf = (body: string) => at([{ body, cut }], ({ model }) => eventsOf(model))
        equal(await heardOf(greeting), greetingEvents, `by ${cut}`)
        equal(await heardOf(greeting.replaceAll('\n', '\r\n')), greetingEvents, `CRLF by ${cut}`)
      }
    },

    'an answer is the same in every form that server-sent events have': async () => {
      const forms = {
        CRLF: greeting.replaceAll('\n', '\r\n'),
        CR: greeting.replaceAll('\n', '\r'),
        comments: `: OPENROUTER PROCESSING\n\n${greeting.replaceAll('\n\n', '\n\n: keep-alive\n\n')}`,
        'more fields': greeting.replaceAll('data:', 'event: message\nid: 7\nretry: 10\ndata:'),
        'no blanks behind the colon': greeting.replaceAll('data: ', 'data:'),
        'data on several lines': greeting.replaceAll('"choices":', '\ndata: "choices":'),
        'a byte order mark': `\ufeff${greeting}`,
        'blank lines before it': `\n\r\n${greeting}`,
        'events without data': greeting.replaceAll('\n\n', '\n\nevent: ping\ndata\n\ndata:\n\n'),
        'no [DONE]': greeting.replace('data: [DONE]\n\n', ''),
        'no end': greeting.replace('\n\ndata: [DONE]\n\n', ''),
        'a CR for an end': greeting.replace('\n\ndata: [DONE]\n\n', '\r'),
        'words behind [DONE]': `${greeting}data: {"error":{"message":"late"}}\n\n`,
      }
      for (const [form, body] of Object.entries(forms))
        equal(await events(body), greetingEvents, form)
    },

    'calls are put together from their pieces, whatever tells which is whose': async () => {
      for (const [shape, { pieces, ids = ['call_a', 'call_b'] }] of Object.entries(callShapes)) {
        const told = await events(callStream(pieces))
        equal(
          told.filter(({ kind }) => kind === 'call' || kind === 'finish'),
          [
            { kind: 'call', id: ids[0], tool: 'add', raw: '{"a":1}' },
            { kind: 'call', id: ids[1], tool: 'add', raw: '{"a":2}' },
            { kind: 'finish', reason: 'calls' },
          ],
          shape,
        )
        const args = told.flatMap((event) => (event.kind === 'args' ? [event] : []))
        const whole = args.map(({ delta }) => delta).join('').length
        equal(whole, '{"a":1}{"a":2}'.length, `${shape}: arguments as they come`)
        equal(args[0]?.id, ids[0], `${shape}: their id`)
      }
    },

    'an empty object that only held the place of arguments is none of them': async () => {
      for (const again of [{ id: 'x', name: 'add' }, {}]) {
        const told = await events(
          callStream([
            [piece(0, 'x', 'add', '{}')],
            [piece(0, again.id, again.name, '{"a"')],
            [piece(0, again.id, again.name, ':1}')],
            [piece(0, again.id, again.name, ' ')],
          ]),
        )
        const calls = told.filter(({ kind }) => kind === 'call')
        equal(
          calls,
          [{ kind: 'call', id: 'x', tool: 'add', raw: '{"a":1}' }],
          JSON.stringify(again),
        )
      }
    },

    'arguments come as they are written, with the name of the tool first': async () => {
      equal(
        await events(oneCall),
        [
          { kind: 'args', id: 'call_a', tool: 'add', delta: '{"a":1,' },
          { kind: 'args', id: 'call_a', delta: '"b":2}' },
          { kind: 'call', id: 'call_a', tool: 'add', raw: '{"a":1,"b":2}' },
          { kind: 'finish', reason: 'calls' },
        ],
        'events',
      )
    },

    'no arguments are an empty object, and broken ones stay as they were written': async () => {
      const raws = async (args: string | undefined) =>
        (await events(callStream([[piece(0, 'call_a', 'add', args)]]))).flatMap((event) =>
          event.kind === 'call' ? [event.raw] : [],
        )
      equal(await raws(undefined), ['{}'], 'none')
      equal(await raws(''), ['{}'], 'empty')
      equal(await raws('{"a":'), ['{"a":'], 'broken')
    },

    'reasoning is told apart from text, by every name that it has': async () => {
      const told = [
        { kind: 'reasoning', delta: 'Hm' },
        { kind: 'text', delta: 'Yes' },
        { kind: 'finish', reason: 'stop' },
      ]
      const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }]
      const ways = {
        DeepSeek: { reasoning_content: 'Hm', content: null },
        OpenRouter: { reasoning: 'Hm', content: '', reasoning_details: [{ text: 'Hm' }] },
        Mistral: { content: thinking },
      }
      for (const [way, delta] of Object.entries(ways))
        equal(await events(sse(chunk(delta), chunk({ content: 'Yes' }, 'stop'))), told, way)
      const parts = [...thinking, { type: 'text', text: 'Yes' }]
      equal(await events(sse(chunk({ content: parts }, 'stop'))), told, 'in one list')
    },

    'a refusal is text': async () => {
      const told = await events(sse(chunk({ refusal: 'I will not' }), chunk({}, 'stop')))
      equal(told[0], { kind: 'text', delta: 'I will not' }, 'refusal')
    },

    'usage is what was reported, by every name that it has, and nothing else': async () => {
      const reports: readonly (readonly [object, object])[] = [
        [{ prompt_tokens: 9 }, { input: 9 }],
        [
          {
            prompt_tokens: 100,
            completion_tokens: 40,
            total_tokens: 140,
            prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0, cache_write_tokens: 8 },
            completion_tokens_details: { reasoning_tokens: 32 },
            cost: 0.01,
          },
          { input: 100, output: 40, total: 140, cacheRead: 64, cacheWrite: 8, reasoning: 32 },
        ],
        [
          { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 },
          { input: 9, output: 1, cacheRead: 4 },
        ],
        [
          { prompt_tokens: 9, completion_tokens: 0, cached_tokens: 3, prompt_tokens_details: null },
          { input: 9, output: 0, cacheRead: 3 },
        ],
      ]
      for (const [reported, expected] of reports) {
        const told = await events(sse(chunk({ content: 'a' }, 'stop'), usage(reported)))
        equal(told.at(-1), { kind: 'finish', reason: 'stop', usage: expected }, 'finish')
      }
      const places = {
        'in the last chunk': sse(chunk({}, 'stop', { usage: { prompt_tokens: 9 } })),
        Moonshot: sse(
          chunk({}, null, {
            choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 9 } }],
          }),
        ),
      }
      for (const [place, body] of Object.entries(places))
        equal(
          (await events(body)).at(-1),
          { kind: 'finish', reason: 'stop', usage: { input: 9 } },
          place,
        )
      for (const nothing of [undefined, null, {}, { prompt_tokens: null }])
        equal(
          await events(sse(chunk({}, 'stop', { usage: nothing }))),
          [{ kind: 'finish', reason: 'stop' }],
          'nothing reported',
        )
    },

    'a later report of usage replaces an earlier one': async () => {
      const told = await events(
        sse(
          chunk({ content: 'a' }, null, { usage: { prompt_tokens: 9, completion_tokens: 1 } }),
          chunk({ content: 'b' }, 'stop', { usage: { prompt_tokens: 9, completion_tokens: 2 } }),
        ),
      )
      const reported = told.flatMap((event) => (event.kind === 'usage' ? [event.usage] : []))
      equal(
        reported,
        [1, 2].map((output) => ({ input: 9, output })),
        'reports',
      )
      equal(told.at(-1), { kind: 'finish', reason: 'stop', usage: { input: 9, output: 2 } }, 'end')
    },

    'the reason to finish is one of ours': async () => {
      const reasons = {
        stop: 'stop',
        length: 'length',
        tool_calls: 'calls',
        // Of before there were tools: none of its calls is heard.
        function_call: 'other',
        content_filter: 'filter',
        error: 'error',
        eos_token: 'other',
        constructor: 'other',
      }
      for (const [said, reason] of Object.entries(reasons))
        equal(await events(sse(chunk({}, said))), [{ kind: 'finish', reason }], said)
      const called = callStream([[piece(0, 'call_a', 'add', '{}')]]).replace(
        'tool_calls"}]',
        'stop"}]',
      )
      equal((await events(called)).at(-1), { kind: 'finish', reason: 'calls' }, 'stop with a call')
    },

    'a reason to finish stands, whatever comes behind it': async () => {
      for (const later of ['', null]) {
        const told = await events(
          sse(chunk({ content: 'a' }, ''), chunk({}, 'stop'), chunk({}, later), '[DONE]'),
        )
        equal(told.at(-1), { kind: 'finish', reason: 'stop' }, JSON.stringify(later))
      }
    },

    'a stream that nobody finished has neither a finish nor a call': async () => {
      const halves = [
        oneCall.slice(0, oneCall.indexOf('"b\\"')),
        oneCall.replace('"tool_calls"}', 'null}'),
        oneCall.split('\n\n').slice(0, -3).join('\n\n'),
        '',
        ': keep-alive\n\n',
        'data: [DONE]\n\n',
      ]
      for (const body of halves) {
        const { events: told } = await at([{ body }], ({ model }) => heard(model))
        equal(
          told.filter(({ kind }) => kind !== 'args'),
          [],
          JSON.stringify(body.slice(-40)),
        )
      }
    },

    'only the first choice is heard': async () => {
      const two = (index: number, content: string) =>
        chunk({}, null, { choices: [{ index, delta: { content }, finish_reason: null }] })
      const told = await events(sse(two(1, 'no'), two(0, 'yes'), chunk({}, 'stop')))
      equal(told[0], { kind: 'text', delta: 'yes' }, 'choice')
      equal(told.length, 2, 'events')
    },

    'an answer that is no stream is understood, too': async () => {
      const answer = {
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Grüße',
              reasoning_content: 'Hm',
              tool_calls: [piece(undefined, 'call_a', 'add', '{"a":1}')],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
      }
      const told = [
        { kind: 'reasoning', delta: 'Hm' },
        { kind: 'text', delta: 'Grüße' },
        { kind: 'args', id: 'call_a', tool: 'add', delta: '{"a":1}' },
        { kind: 'usage', usage: { input: 9, output: 5, total: 14 } },
        { kind: 'call', id: 'call_a', tool: 'add', raw: '{"a":1}' },
        { kind: 'finish', reason: 'calls', usage: { input: 9, output: 5, total: 14 } },
      ]
      equal(await events(JSON.stringify(answer), json), told, 'on one line')
      equal(await events(JSON.stringify(answer, undefined, 2), json), told, 'on several')
      equal(await events(JSON.stringify(answer)), told, 'that calls itself a stream')
      equal(await events(greeting, json), greetingEvents, 'a stream that calls itself JSON')
    },
  }
}
