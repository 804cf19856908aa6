// Declaring tools: what is refused, and what models read.
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createExecutor, memory, storeCache, tool } from 'heddle'
import { does, executorOf } from './parts.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

const good = { name: 'x', description: 'does x', input: z.object({ n: z.number() }), run: () => 1 }
const making = (more: object) => () => tool({ ...good, ...more } as never)

it.each<[wrong: object, kind: typeof TypeError | typeof RangeError, says: string]>([
  [{ name: '' }, TypeError, 'Cannot make tool "": name is not a non-empty string'],
  [{ name: 5 }, TypeError, 'Cannot make tool without a name: name is not a non-empty string'],
  [
    { name: undefined },
    TypeError,
    'Cannot make tool without a name: name is not a non-empty string',
  ],
  [{ description: undefined }, TypeError, 'Cannot make tool "x": description is not a string'],
  [{ input: {} }, TypeError, 'Cannot make tool "x": input is not a schema'],
  [{ input: undefined }, TypeError, 'Cannot make tool "x": input is not a schema'],
  [{ output: { type: 'object' } }, TypeError, 'Cannot make tool "x": output is not a schema'],
  [{ parameters: 'object' }, TypeError, 'Cannot make tool "x": parameters is not an object'],
  [{ run: undefined }, TypeError, 'Cannot make tool "x": run is not a function'],
  [{ timeOut: 5 }, TypeError, 'Cannot make tool "x": "timeOut" is not known here'],
  [{ approve: 'yes' }, TypeError, 'Cannot make tool "x": approve is not a boolean or a function'],
  [
    { timeout: 0 },
    RangeError,
    'Cannot make tool "x": timeout is not a number from 1 to 2147483647',
  ],
  [
    { timeout: Number.NaN },
    RangeError,
    'Cannot make tool "x": timeout is not a number from 1 to 2147483647',
  ],
  [{ retry: 3 }, TypeError, 'Cannot make tool "x": retry is not an object'],
  [
    { retry: {} },
    RangeError,
    'Cannot make tool "x" with that retry: attempts is not a whole number from 1 on',
  ],
  [
    { retry: { attempts: 0 } },
    RangeError,
    'Cannot make tool "x" with that retry: attempts is not a whole number from 1 on',
  ],
  [
    { retry: { attempts: 2, delays: 5 } },
    TypeError,
    'Cannot make tool "x" with that retry: "delays" is not known here',
  ],
  [
    { retry: { attempts: 2, jitter: 2 } },
    RangeError,
    'Cannot make tool "x" with that retry: jitter is not a number from 0 to 1',
  ],
  [
    { retry: { attempts: 2, when: 5 } },
    TypeError,
    'Cannot make tool "x" with that retry: when is not a function',
  ],
  [{ cache: 'run' }, TypeError, 'Cannot make tool "x": cache is not an object'],
  [
    { cache: {} },
    TypeError,
    'Cannot make tool "x" with that cache: scope is not "run", "thread" or "global"',
  ],
  [
    { cache: { scope: 'all' } },
    TypeError,
    'Cannot make tool "x" with that cache: scope is not "run", "thread" or "global"',
  ],
  [
    { cache: { scope: 'run', ttl: -1 } },
    RangeError,
    'Cannot make tool "x" with that cache: ttl is not a number from 1 on',
  ],
])('refuses %j', (wrong, kind, says) => {
  expect(making(wrong)).toThrow(kind)
  expect(making(wrong)).toThrow(says)
})

it('refuses what is no spec at all', () => {
  for (const spec of [undefined, null, 5, 'x', []])
    expect(() => tool(spec as never)).toThrow(/^Cannot make tool without a name: /)
})

it('takes settings that are undefined for absent, and any name that is not empty', () => {
  const made = tool({
    ...good,
    name: 'fs.read file',
    timeout: undefined,
    cache: undefined,
  } as never)
  expect(made.name).toBe('fs.read file')
  expect(made.settings).toEqual({})
})

it('is frozen, and keeps what it was given', () => {
  const spec = {
    ...good,
    timeout: 50,
    retry: { attempts: 2 },
    approve: true,
    cache: { scope: 'run' as const },
  }
  const made = tool(spec)
  expect(Object.isFrozen(made)).toBe(true)
  expect(made).toMatchObject({ name: 'x', description: 'does x' })
  expect(made.settings).toEqual({
    timeout: 50,
    retry: { attempts: 2 },
    approve: true,
    cache: { scope: 'run' },
  })
  expect('output' in made).toBe(false)
})

it('tells models what the schema tells, when they ask', () => {
  expect(tool(good).parameters).toMatchObject({
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
  })
  const ark = tool({ ...good, input: type({ n: 'number' }) })
  expect(ark.parameters).toMatchObject({ type: 'object', properties: { n: { type: 'number' } } })
  // What goes in, not what comes out.
  const piped = tool({
    ...good,
    input: z.object({ at: z.string().transform((text) => new Date(text)) }),
  })
  expect(piped.parameters).toMatchObject({ properties: { at: { type: 'string' } } })
})

it('takes parameters for schemas that tell nothing, and rather than what they tell', () => {
  const input = v.object({ n: v.number() })
  expect(tool({ ...good, input }).parameters).toBeUndefined()
  const parameters = { type: 'object', properties: { n: { type: 'number' } } }
  expect(tool({ ...good, input, parameters }).parameters).toBe(parameters)
  expect(tool({ ...good, parameters }).parameters).toBe(parameters)
})

it('works out what models read once, and not before it is asked', () => {
  let asked = 0
  const input = {
    '~standard': {
      ...good.input['~standard'],
      jsonSchema: { input: () => ({ type: 'object', asked: ++asked }) },
    },
  }
  const made = tool({ ...good, input })
  expect(asked).toBe(0)
  expect([made.parameters, made.parameters]).toEqual([
    { type: 'object', asked: 1 },
    { type: 'object', asked: 1 },
  ])
})

it('a schema that cannot be told as JSON Schema is one that tells nothing', () => {
  expect(tool({ ...good, input: z.object({ at: z.date() }) }).parameters).toBeUndefined()
})

it('takes zod, valibot and arktype alike', async () => {
  const inputs = [z.object({ n: z.number() }), v.object({ n: v.number() }), type({ n: 'number' })]
  for (const input of inputs) {
    const double = tool({ ...good, input: input as (typeof inputs)[0], run: ({ n }) => 2 * n })
    const executor = executorOf([double])
    expect(await executor.run(double, { n: 2 })).toBe(4)
    await expect(executor.run('x', { n: 'two' })).rejects.toMatchObject({
      code: 'schema_error',
      details: { tool: 'x' },
    })
  }
})

it.each<[wrong: object, says: RegExp]>([
  [{ tools: undefined }, /^Cannot make an executor: tools is not a list$/],
  [{ tools: [{}] }, /^Cannot make an executor: tools is not a list of tools$/],
  [
    { tools: [does('a', () => 1), does('a', () => 2)] },
    /^Cannot make an executor: there are two tools "a"$/,
  ],
  [{ hook: [] }, /^Cannot make an executor: "hook" is not known here$/],
  [{ hooks: {} }, /hooks is not a list/],
  [{ hooks: [{ beforeTools() {} }] }, /beforeTools/],
  [{ cache: memory() }, /cache is not an object with the methods get, set, delete/],
  [{ concurrency: 0 }, /concurrency is not a whole number from 1/],
  [{ logger: console.log }, /logger is not an object with the methods debug, warn, error/],
])('an executor refuses %j', (wrong, says) => {
  expect(() => createExecutor({ tools: [], ...wrong } as never)).toThrow(says)
})

it('knows its tools by name, whatever their names are', async () => {
  const tools = ['constructor', '__proto__', 'a'].map((name) => does(name, () => name))
  const executor = executorOf(tools, { cache: storeCache(memory()) })
  expect([...executor.tools.keys()]).toEqual(['constructor', '__proto__', 'a'])
  expect(executor.tools.get('a')).toBe(tools[2])
  expect(await executor.run('__proto__', {})).toBe('__proto__')
  expect(await executor.run('constructor', {})).toBe('constructor')
})
