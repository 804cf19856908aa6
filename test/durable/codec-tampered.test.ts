import { describe, expect, it } from 'vitest'
import { decode, read, Unreadable, write } from '../../src/durable/codec.ts'

const bytes = 'AAAAAAAA'
const rows: Record<string, readonly string[]> = {
  'a row of another shape': [
    '[]',
    '{}',
    '{"tree":1}',
    '["a"]',
    '[1]',
    '[null]',
    '[[],[]]',
    '[[],null]',
    '[[],"undefined"]',
    '[[],{}]',
    '[null,[["undefined"]],1]',
    '[[],[],[]]',
  ],
  "numbers that JSON doesn't write": [
    '1e999',
    '-0',
    '[[1e999]]',
    '[{"a":-0}]',
    '[[null],[["undefined",-0]]]',
    '[[-1e999],[["undefined",0]]]',
  ],
  'a tag of another shape': [
    '[null,[null]]',
    '[null,[1]]',
    '[null,[[]]]',
    '[null,["undefined"]]',
    '[null,[{"0":"undefined"}]]',
    '[null,[[null]]]',
    '[null,[[["undefined"]]]]',
    '[{"name":"a","message":"b"},[[["Error"]]]]',
    '["",[[["ArrayBuffer"]]]]',
  ],
  'an unknown type': [
    ...[
      'RegExp',
      'Function',
      'Object',
      'Array',
      'Promise',
      'Proxy',
      'URL',
      'WeakMap',
      'Buffer',
      'SharedArrayBuffer',
      'DOMException',
      'Int64Array',
      'Uint7Array',
      'eval',
      '',
      'date',
      'null',
      'String',
      'MyError',
      'Error ',
      'Uint8Array\\n',
    ],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'globalThis'],
  ].flatMap((type) =>
    ['null', '0', '"a"', '[]', '[["a",1]]', '{"name":"a","message":"b"}'].map(
      (raw) => `[${raw},[["${type}"]]]`,
    ),
  ),
  "an argument that isn't of its type": [
    ...['0', 'false', '""', '[]', '{}'].map((raw) => `[${raw},[["undefined"]]]`),
    ...[
      'null',
      '0',
      '"0"',
      '"1"',
      '""',
      '"-NaN"',
      '"+Infinity"',
      '"1e999"',
      '"0x10"',
      '["NaN"]',
      '{}',
    ].map((raw) => `[${raw},[["number"]]]`),
    ...[
      'null',
      '1',
      '""',
      '"1.5"',
      '"0x10"',
      '"-0"',
      '"01"',
      '" 1"',
      '"1n"',
      '"1e3"',
      '["1"]',
      '{}',
    ].map((raw) => `[${raw},[["bigint"]]]`),
    ...['"1970-01-01"', '1.5', '8640000000000001', '-1e300', 'true', '[]', '[0]', '{}'].map(
      (raw) => `[${raw},[["Date"]]]`,
    ),
    ...[
      'null',
      '0',
      '"ab"',
      '{}',
      '[1]',
      '[[1]]',
      '[[1,2,3]]',
      '["ab"]',
      '[{"0":1,"1":2,"length":2}]',
      '{"length":0}',
    ].map((raw) => `[${raw},[["Map"]]]`),
    ...['null', '0', '"ab"', '{}', '{"length":0}'].map((raw) => `[${raw},[["Set"]]]`),
    ...['null', '1073741824', '[1,2]', '{"length":1e9}', '"*"', '"AAAAA"', '"\\u0100"'].flatMap(
      (raw) => ['Uint8Array', 'ArrayBuffer', 'DataView'].map((type) => `[${raw},[["${type}"]]]`),
    ),
    ...['Int16Array', 'Uint32Array', 'Float64Array', 'BigInt64Array'].map(
      (type) => `["AAAA",[["${type}"]]]`,
    ),
    ...[
      'null',
      '"a"',
      '[]',
      '["a","b"]',
      '{}',
      '{"name":"a"}',
      '{"message":"a"}',
      '{"name":1,"message":"a"}',
      '{"name":"a","message":{}}',
      '{"__proto__":{"name":"a","message":"b"}}',
    ].map((raw) => `[${raw},[["Error"]]]`),
  ],
  'a key or an element twice': [
    '[[1,1],[["Set"]]]',
    '[[["a",1],["a",2]],[["Map"]]]',
    '[[null,null],[["undefined",0],["undefined",1],["Set"]]]',
    '[["NaN","NaN"],[["number",0],["number",1],["Set"]]]',
  ],
  'a path to nowhere': [
    ...[
      '"a"',
      '0',
      '-1',
      '1.5',
      '1e9',
      '4294967296',
      '"0"',
      '"length"',
      '"__proto__"',
      '"constructor"',
      'null',
      'true',
      '[]',
      '[0]',
      '{}',
    ].map((key) => `[[],[["undefined",${key}]]]`),
    ...[
      '"b"',
      '0',
      '-1',
      '"length"',
      '"__proto__"',
      '"constructor"',
      '"toString"',
      '"hasOwnProperty"',
      'null',
      '["a"]',
    ].map((key) => `[{"a":null},[["undefined",${key}]]]`),
    ...['1', '-1', '"0"', '"length"', '0.5', '1e9', '"at"'].map(
      (key) => `[[null],[["undefined",${key}]]]`,
    ),
    '[{"a":null},[["undefined","a","b"]]]',
    '[null,[["undefined",0]]]',
  ],
  'a path through something that has no members': [
    '["ab",[["undefined",0]]]',
    '["ab",[["undefined","length"]]]',
    '[{"a":"NaN"},[["number","a",0]]]',
    '[1,[["undefined","constructor"]]]',
    '[true,[["undefined","__proto__"]]]',
  ],
  'a path to a prototype': [
    '[{},[["undefined","__proto__","polluted"]]]',
    '[{"a":null},[["undefined","constructor","prototype","a"]]]',
    '[[],[["undefined","__proto__","at"]]]',
    '[{},[["Error","__proto__"]]]',
    '[[],[["Set","constructor"]]]',
  ],
  'a path through what another tag made': [
    '[[["a",null]],[["Map"],["undefined",0,1]]]',
    '[[null],[["Set"],["undefined",0]]]',
    `["${bytes}",[["Uint8Array"],["undefined",0]]]`,
    '[{"name":"a","message":"b","c":null},[["Error"],["undefined","c"]]]',
    '[{"name":"a","message":"b","stack":null},[["Error"],["undefined","stack"]]]',
    '[0,[["Date"],["undefined","getTime"]]]',
  ],
  'two tags for one value': [
    '[null,[["undefined"],["undefined"]]]',
    '[null,[["undefined"],["Date"]]]',
    '[null,[["Date"],["Date"]]]',
    '["1",[["bigint"],["bigint"]]]',
    '["NaN",[["number"],["number"]]]',
    '[[],[["Set"],["Set"]]]',
    '[[],[["Set"],["Map"]]]',
    '[{"name":"a","message":"b"},[["Error"],["Error"]]]',
    '["",[["Uint8Array"],["Uint8Array"]]]',
    '["",[["Uint8Array"],["Set"]]]',
  ],
}

describe('stored text that was tampered with', () => {
  for (const [name, texts] of Object.entries(rows)) {
    it(`is unreadable and constructs nothing: ${name}`, () => {
      const before = shape()
      for (const text of texts) expect(outcome(text)).toBe(`${text} is unreadable`)
      expect(shape()).toBe(before)
    })
  }

  it('is unreadable when it nests too deep for a stack', () => {
    for (const depth of [1003, 5000]) {
      for (const text of [
        `${'['.repeat(depth)}${']'.repeat(depth)}`,
        `[${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}]`,
      ]) {
        expect(() => read(JSON.parse(text))).toThrow(Unreadable)
      }
    }
  })

  it('is unreadable when it is no JSON at all', () => {
    for (const value of [
      undefined,
      1n,
      Number.NaN,
      () => 1,
      Symbol('a'),
      new Map(),
      [() => 1],
      [{ a: undefined }],
      [{ a: Number.NaN }],
    ]) {
      expect(() => read(value)).toThrow(Unreadable)
    }
  })

  it('says why in a clause', () => {
    const why = (text: string): string => {
      try {
        return String(read(JSON.parse(text)))
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(why('[]')).toBe('it has another shape')
    expect(why('["a",[["RegExp"]]]')).toBe(
      "it has a value of an unknown type, or one that its type can't have",
    )
    expect(why('[[],[["Set","a"]]]')).toBe('it has a tag that points nowhere')
    expect(why('[[1,1],[["Set"]]]')).toBe('it has a key or an element twice')
  })

  it('may still name members as prototypes do: they are members', () => {
    const cell = read(
      JSON.parse(
        '[{"__proto__":{"x":null},"constructor":[null]},[["undefined","__proto__","x"],["Date","constructor",0]]]',
      ),
    )
    const value = decode(cell) as Record<string, unknown>
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ x: undefined })
    expect((value['constructor'] as unknown[])[0]).toBeInstanceOf(Date)
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
  })

  it('keeps the members of an error its own, whatever they are called', () => {
    const cell = read(
      JSON.parse(
        '[{"name":"a","message":"b","__proto__":{"x":1},"constructor":1,"stack":"s","toString":2},[["TypeError"]]]',
      ),
    )
    const error = decode(cell) as Error
    expect(Object.getPrototypeOf(error)).toBe(TypeError.prototype)
    expect(Object.keys(error).sort()).toEqual(['__proto__', 'constructor', 'toString'])
    expect(error.stack).toBe('a: b')
    expect(JSON.stringify(write(cell))).toContain('"TypeError"')
  })
})

function outcome(text: string): string {
  try {
    return `${text} gave ${String(decode(read(JSON.parse(text))))}`
  } catch (error) {
    return error instanceof Unreadable ? `${text} is unreadable` : `${text} threw ${String(error)}`
  }
}

function shape(): string {
  return [
    Object,
    Array,
    Map,
    Set,
    Date,
    Error,
    TypeError,
    Uint8Array,
    Function,
    String,
    Number,
    Boolean,
  ]
    .map((each) => Reflect.ownKeys(each.prototype).map(String).join())
    .join(';')
}
