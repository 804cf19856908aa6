// B38: one canonical text for one value, and the digests that were measured, wherever we run.
import { cacheKey, canonicalJson, digest } from 'heddle'
import { digest as digestOf } from '../../src/lib/digest.ts'
import { digestAtOnce } from '../../src/lib/sha256.ts'
import { equal, refusedWith, type Case } from '../behaviours/portable.ts'

/** Arguments, their canonical text and its digest. */
const table: Readonly<Record<string, readonly [value: unknown, text: string, hash: string]>> = {
  'keys in another order': [{ b: 2, a: 1 }, '{"a":1,"b":2}', '43258cff783fe7036d8a43033f830adf'],
  'keys in order': [{ a: 1, b: 2 }, '{"a":1,"b":2}', '43258cff783fe7036d8a43033f830adf'],
  'no members': [{}, '{}', '44136fa355b3678a1146ad16f7e8649e'],
  'a number': [{ n: 1 }, '{"n":1}', '2bfd14f43d17fc7cea24e0917a8879b4'],
  'a text of a number': [{ n: '1' }, '{"n":"1"}', '1a2613ec93fa82b8b76d7decf6f493cf'],
  'minus zero': [{ n: -0 }, '{"n":0}', 'f3013f933b9fb80ab6d995e7ad9da36f'],
  zero: [{ n: 0 }, '{"n":0}', 'f3013f933b9fb80ab6d995e7ad9da36f'],
  'a member that is undefined': [
    { a: 1, b: undefined },
    '{"a":1}',
    '015abd7f5cc57a2dd94b7590f04ad808',
  ],
  'keys like numbers': [
    { 10: 1, 9: 1, b: 1, a: 1 },
    '{"10":1,"9":1,"a":1,"b":1}',
    '48389a84ededc8269dc5fc69be33dbb1',
  ],
  'keys that a locale sorts otherwise': [
    { h: 1, ch: 2 },
    '{"ch":2,"h":1}',
    '41de12a5cdb96b78200751fe224abb31',
  ],
  'members of members': [
    { z: [3, { y: 1, x: 2 }], a: null },
    '{"a":null,"z":[3,{"x":2,"y":1}]}',
    '9fdcb37fa5456110085856672db3c40b',
  ],
  'é as one character': [{ q: '\u00e9' }, '{"q":"\u00e9"}', '4b8e3fd40acdad6181314bfef3c1364b'],
  'é as two': [{ q: 'e\u0301' }, '{"q":"e\u0301"}', 'a3ab3742aeee237fb6efdf9219a01645'],
  'keys beyond the basic plane': [
    { '😀': 1, ﬁ: 2 },
    '{"😀":1,"ﬁ":2}',
    '00ab868e70bbb0fb50d560d1a59c0c27',
  ],
  'a lone surrogate': [{ q: '\ud83d' }, '{"q":"\\ud83d"}', 'be01fc4a66f75640c01d0acebeaf2125'],
  'another lone surrogate': [
    { q: '\ud83e' },
    '{"q":"\\ud83e"}',
    'bb96eb533108de756ca8edcefa0c02d0',
  ],
  'a small number': [{ n: 1e-7 }, '{"n":1e-7}', '747d6d23b64d1b2d579adb832b44de31'],
  'a large number': [{ n: 1e21 }, '{"n":1e+21}', 'f1ee2b60ee95a3170fdc07a577e5f351'],
}

class Point {
  x = 1
}
const ring: Record<string, unknown> = {}
ring['a'] = [{ back: ring }]

/** What canonical JSON can't hold: the value, and where and what the error says it is. */
const refused: Readonly<Record<string, readonly [value: unknown, path: string, type: string]>> = {
  'a Date': [{ at: new Date(0) }, 'at', 'Date'],
  'a Map': [{ a: [new Map()] }, 'a[0]', 'Map'],
  'a Set': [new Set([1]), '', 'Set'],
  'a bigint': [{ n: 1n }, 'n', 'bigint'],
  NaN: [{ n: Number.NaN }, 'n', 'NaN'],
  Infinity: [[-Infinity], '[0]', '-Infinity'],
  bytes: [{ b: Uint8Array.of(1) }, 'b', 'Uint8Array'],
  'an error': [{ e: new RangeError('far') }, 'e', 'RangeError'],
  'an instance of a class': [{ p: new Point() }, 'p', 'Point'],
  'a function': [{ f: () => 1 }, 'f', 'function'],
  'a symbol': [[Symbol('s')], '[0]', 'symbol'],
  'a key that is a symbol': [{ a: { [Symbol('s')]: 1 } }, 'a', 'symbol key'],
  'an item that is undefined': [{ a: [1, undefined] }, 'a[1]', 'undefined'],
  // oxlint-disable-next-line no-sparse-arrays -- it is what is tested
  'a hole': [[, 1], '[0]', 'undefined'],
  undefined: [undefined, '', 'undefined'],
  'a boxed text': [{ 's t': Object('s') as unknown }, '["s t"]', 'String'],
  'a ring': [ring, 'a[0].back', 'circular reference'],
}

const cases: Readonly<Record<string, () => unknown>> = {
  async 'a digest made at once is that of the platform, whatever fills its blocks'() {
    const text = 'call_ é漢😀\ud800'.repeat(30)
    for (let length = 0; length <= 200; length++)
      equal(digestAtOnce(text.slice(-length)), await digestOf(text.slice(-length)), `${length}`)
  },
  async 'has the digest that was measured'() {
    for (const [name, [value, text, hash]] of Object.entries(table)) {
      equal(canonicalJson(value), text, name)
      equal(await digest(value), hash, name)
    }
  },

  async 'differs for lists in another order, and for lists and objects'() {
    const texts = [[1, 2], [2, 1], { 0: 1, 1: 2 }, [[1, 2]], '[1,2]', [], {}, '', null, 0, false]
    equal(new Set(texts.map(canonicalJson)).size, texts.length, 'distinct texts')
  },

  async 'refuses what JSON can not hold, and says where it is'() {
    for (const [name, [value, path, type]] of Object.entries(refused)) {
      const { details } = await refusedWith('unserializable_value', () => canonicalJson(value))
      equal({ ...details }, { path, type }, name)
      await refusedWith('unserializable_value', () => digest(value))
    }
  },

  async 'holds what is deep, and refuses what is deeper'() {
    const deep = (levels: number): unknown => {
      let value: unknown = 0
      for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { v: value }
      return value
    }
    equal(canonicalJson(deep(1000)).length, 500 * 2 + 500 * 6 + 1, 'length of 1,000 levels')
    await refusedWith('unserializable_value', () => canonicalJson(deep(1002)))
    await refusedWith('unserializable_value', () => canonicalJson(deep(200_000)))
  },

  'reads a value once and leaves it alone'() {
    let reads = 0
    const value = {
      b: undefined,
      get a() {
        return ++reads
      },
    }
    equal(canonicalJson(value), '{"a":1}', 'text')
    equal([reads, Object.keys(value)], [1, ['b', 'a']], 'reads and keys')
  },

  async 'keys have the parts of the table, and no two lists of parts one key'() {
    const tool = { ns: 'heddle', tool: 'fetch', args: { b: 2, a: 1 } }
    const hash = '43258cff783fe7036d8a43033f830adf'
    const keys = [
      await cacheKey.tool({ ...tool, scope: 'run', runId: 'run_1', threadId: 't1' }),
      await cacheKey.tool({ ...tool, scope: 'thread', runId: 'run_1', threadId: 't1' }),
      await cacheKey.tool({ ...tool, scope: 'global' }),
      await cacheKey.llm({ ns: 'heddle', provider: 'openai', model: 'm', payload: tool.args }),
      cacheKey.gemini({ ns: 'heddle', model: 'm', prefixDigest: 'abc' }),
    ]
    equal(
      keys,
      [
        `heddle:tool:v1:run=run_1:fetch:${hash}`,
        `heddle:tool:v1:thread=t1:fetch:${hash}`,
        `heddle:tool:v1:global:fetch:${hash}`,
        `heddle:llm:v1:openai:m:${hash}`,
        'heddle:gcache:v1:m:abc',
      ],
      'keys',
    )
    const none = [
      await cacheKey.tool({ ...tool, scope: 'run', threadId: 't1' }),
      await cacheKey.tool({ ...tool, scope: 'thread', runId: 'run_1' }),
    ]
    equal(none, [undefined, undefined], 'keys without their id')
    const odd = await cacheKey.tool({ ...tool, tool: 'a:b%', scope: 'run', runId: 'x:a' })
    equal(odd, `heddle:tool:v1:run=x%3Aa:a%3Ab%25:${hash}`, 'a key with signs in its parts')
    const names = ['a', 'a:b', 'b', 'a%3Ab', 'b:a', '%', '%25', ':', 'global', 'run=a']
    const all = names.flatMap((runId) =>
      names.map((name) => cacheKey.tool({ ...tool, tool: name, scope: 'run', runId })),
    )
    equal(new Set(await Promise.all(all)).size, names.length ** 2, 'distinct keys')
    await refusedWith('unserializable_value', () =>
      cacheKey.tool({ ...tool, args: { at: new Date(0) }, scope: 'global' }),
    )
  },
}

/** The cases. */
export const suite: readonly Case[] = Object.entries(cases).map(([name, check]) => ({
  name,
  run: async () => void (await check()),
}))
