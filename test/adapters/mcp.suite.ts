// `mcpTools` with real clients and servers of both versions of the SDK, wherever they run. What differs is how they are linked.
import {
  casesOf,
  equal,
  refusedWith,
  type Case,
  type Cases,
  type Open,
} from '../behaviours/portable.ts'
import { blocks } from '../fakes/mcp-desk.ts'
import { straight } from '../fakes/mcp-line.ts'
import { goingCases } from './mcp-going.ts'
import {
  benchOf,
  errorOf,
  prefixed,
  runAll,
  sdks,
  sortedIn,
  valueOf,
  type Bench,
  type Link,
} from './mcp.tools.ts'

/** Every case with every SDK. */
export function suite(open: Open, link: Link = straight): readonly Case[] {
  return Object.entries(sdks).flatMap(([sdk, parts]) => {
    const bench = benchOf(parts, link)
    const cases = { ...makingCases(bench, sdk), ...goingCases(bench) }
    return casesOf(`mcp-${sdk.at(-1)}`, open, prefixed(sdk, cases))
  })
}

/** What tools are made, and what comes of their calls. */
function makingCases({ at, listing }: Bench, sdk: string): Cases {
  return {
    'each tool of the server is one that asks first, with its description and its schema': () =>
      at(async (tools) => {
        equal(
          tools.map(({ name }) => name),
          ['add', 'read', 'send', 'nothing', 'show', 'fail', 'slow'],
          'names',
        )
        equal(
          tools.map(({ settings }) => settings.approve),
          tools.map(() => true),
          'approve',
        )
        equal(new Set(tools.map(({ settings }) => settings.timeout)), new Set([60_000]), 'timeout')
        const [add, read, , nothing] = tools
        equal(
          [add, read, nothing].map((one) => one?.description),
          ['Adds two numbers', 'Reads a file', ''],
          'told',
        )
        const { type, properties, required } = add?.parameters ?? {}
        const number = { type: 'number' }
        equal(
          { type, properties, required },
          { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
          'parameters',
        )
      }, {}),

    'a result is the structured content, the text, or all blocks': () =>
      at(async (tools, { done }) => {
        const results = await runAll(tools, [
          ['add', { a: 1, b: 2 }],
          ['read', { path: 'notes.txt' }],
          ['nothing', undefined],
          ['show', {}],
        ])
        equal(
          results.map(valueOf),
          [{ sum: 3 }, 'first\nsecond', '', sortedIn({ content: blocks })],
          'values',
        )
        equal(new Set(done), new Set(['add 1 2', 'read notes.txt']), 'done')
      }),

    'what the server calls an error is the error of that call, with its text': () =>
      at(async (tools) => {
        const [plain, mute, shown, fine] = await runAll(tools, [
          ['fail', {}],
          ['fail', { mute: true }],
          ['fail', { shown: true }],
          ['read', { path: 'a' }],
        ])
        equal(errorOf(plain).message, 'No such file: notes.txt', 'plain')
        equal(errorOf(plain).cause, undefined, 'no cause')
        equal(
          errorOf(mute).message,
          `Cannot finish MCP tool "fail": it failed, and its server doesn't say why`,
          'mute',
        )
        equal(errorOf(shown).message, 'No such file: notes.txt', 'shown')
        const content = [{ type: 'text', text: 'No such file: notes.txt' }, blocks[1]]
        equal(sortedIn(errorOf(shown).cause), sortedIn({ content }), 'cause')
        equal(valueOf(fine), 'first\nsecond', 'the call beside them')
      }),

    'arguments that are no object or lack something never reach the server, others it refuses itself':
      () =>
        at(async (tools, { done }) => {
          const results = await runAll(tools, [
            ['send', 'ann'],
            ['send', ['ann']],
            ['send', null],
            ['send', {}],
            ['send', { to: 1 }],
          ])
          const codes = results.map((one) => (errorOf(one) as { code?: unknown }).code)
          equal(
            codes.slice(0, 4),
            Array.from({ length: 4 }, () => 'schema_error'),
            'codes',
          )
          const issues = (errorOf(results[3]) as { details?: unknown }).details
          equal(
            issues,
            { tool: 'send', issues: [{ message: 'Required', path: ['to'] }] },
            'what is missing',
          )
          equal(/validation error/.test(errorOf(results[4]).message), true, 'the server has a word')
          equal(done, [], 'done')
        }),

    'a tool that the server took away is the error of that call': () =>
      at(async (tools, { line, done }) => {
        line.remove('send')
        const [gone, there] = await runAll(tools, [
          ['send', { to: 'ann' }],
          ['add', { a: 1, b: 1 }],
        ])
        equal(/send.* not found/.test(errorOf(gone).message), true, 'what the server says')
        equal(valueOf(there), { sum: 2 }, 'the call beside it')
        equal(done, ['add 1 1'], 'done')
      }),

    'tools can be chosen, renamed, and freed from approval by name': async () => {
      await at(
        async (tools) => {
          equal(
            tools.map(({ name, settings }) => [name, settings.approve]),
            [
              ['desk_read', false],
              ['desk_send', true],
            ],
            'tools',
          )
          equal(
            tools.map(({ settings }) => settings.timeout),
            [5000, 5000],
            'timeout',
          )
          const [read] = await runAll(tools, [['desk_read', { path: 'a' }]])
          equal(valueOf(read), 'first\nsecond', 'it is called by its own name')
        },
        {
          timeout: 5000,
          prefix: 'desk_',
          only: ['read', 'send', 'read'],
          approve: { read: false },
        },
      )
      const missing = at(async () => {}, { only: ['read', 'sned'] })
      const { message, details } = await refusedWith('tool_usage_error', () => missing)
      equal(
        message.startsWith('Cannot use MCP tool "sned": the server has "add", "read", "send"'),
        true,
        message,
      )
      equal(details, { tool: 'sned' }, 'details')
      // Somebody renamed it: what was said of it would be passed over.
      const renamed = at(async () => {}, { approve: { read: false, desk_send: false } })
      const refused = await refusedWith('tool_usage_error', () => renamed)
      equal(refused.details, { tool: 'desk_send' }, 'details')
    },

    'a tool named like something that every object has still asks': async () => {
      const inputSchema = { type: 'object' }
      const pageOf = () => ({
        tools: ['constructor', 'toString', 'free'].map((name) => ({ name, inputSchema })),
      })
      const tools = await listing(pageOf, { approve: { free: false } })
      equal(
        tools.map(({ settings }) => settings.approve),
        [true, true, false],
        'approve',
      )
    },

    'a list in pages is read to its end, and what is in two of them is one tool': async () => {
      const inputSchema = { type: 'object' }
      const pages = new Map<string | undefined, object>([
        [undefined, { tools: [{ name: 'a', inputSchema }], nextCursor: '2' }],
        ['2', { tools: [], nextCursor: '3' }],
        [
          '3',
          {
            tools: [
              { name: 'a', inputSchema },
              { name: 'b', inputSchema },
            ],
          },
        ],
      ])
      const tools = await listing((cursor) => pages.get(cursor) as object)
      equal(
        tools.map(({ name }) => name),
        ['a', 'b'],
        'names',
      )
    },

    'a list without an end is read no further than makes sense': async () => {
      const inputSchema = { type: 'object' }
      const ended = async (cursor: () => string): Promise<unknown> =>
        listing(() => ({ tools: [{ name: 'a', inputSchema }], nextCursor: cursor() })).then(
          (tools) => tools.length,
          ({ code }: { code: unknown }) => code,
        )
      let n = 0
      const ends = [await ended(() => 'again'), await ended(() => String(n++))]
      // SDK 2 reads all pages by itself, and stops at the first cursor that comes again.
      const own = [1, 'LIST_PAGINATION_EXCEEDED']
      equal(ends, sdk === 'SDK 2' ? own : ['tool_usage_error', 'tool_usage_error'], 'ends')
      equal(n <= 101, true, `${n} pages`)
    },
  }
}
