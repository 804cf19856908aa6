// The tools of a deep agent and what a turn of them comes to, without an agent: what models read, to the letter.
import { isHeddleError, SchemaError, type CallResult, type Tool } from 'heddle'
import { describe, expect, it } from 'vitest'
import {
  deepInstructions,
  deepTools,
  deepUpdate,
  taskInstructions,
  type DeepOptions,
  type DeepState,
  type Todo,
} from '../../src/agent/deep.ts'

const notes = { 'notes.md': 'one\ntwo\nthree\n', 'a/b.txt': '', plan: 'x' }

describe('a model', () => {
  it.each([
    ['list_files', {}, 'a/b.txt (0 lines)\nnotes.md (3 lines)\nplan (1 line)'],
    ['read_file', { path: 'notes.md' }, 'one\ntwo\nthree'],
    ['read_file', { path: 'notes.md', offset: 1 }, 'two\nthree'],
    [
      'read_file',
      { path: 'notes.md', offset: 1, limit: 1 },
      'two\n[lines 2 to 2 of 3; read on with offset 2]',
    ],
    ['read_file', { path: 'notes.md', offset: 2, limit: 1 }, 'three'],
    ['read_file', { path: 'plan' }, 'x'],
    ['read_file', { path: 'a/b.txt' }, '"a/b.txt" is empty'],
    ['write_file', { path: 'new', text: 'x\ny' }, 'Wrote "new": 2 lines'],
    ['write_file', { path: 'plan', text: '' }, 'Wrote "plan": 0 lines'],
    ['edit_file', { path: 'plan', old: 'x', new: 'y' }, 'Changed "plan"'],
    [
      'write_todos',
      { todos: [todo('a', 'done'), todo('b', 'doing')] },
      'The list has 2 to-dos, 1 of them done',
    ],
  ])('reads of %s %j what it says', async (name, args, text) => {
    const [result] = (await turn({ files: notes }, [[name, args]])).results
    expect(result).toMatchObject({ status: 'success', value: text })
  })

  it('reads that there are no files', async () => {
    expect((await turn({}, [['list_files', {}]])).results[0]).toMatchObject({
      value: 'There are no files yet',
    })
  })

  it('reads a long file a thousand lines at a time', async () => {
    const text = Array.from({ length: 1_500 }, (_, n) => `line ${n}`).join('\n')
    const files = { long: text }
    const [first, rest] = (
      await turn({ files }, [
        ['read_file', { path: 'long' }],
        ['read_file', { path: 'long', offset: 1_000 }],
      ])
    ).results.map((one) => (one as { readonly value: string }).value)
    expect(first?.split('\n').at(-1)).toBe('[lines 1 to 1000 of 1500; read on with offset 1000]')
    expect(`${first?.split('\n').slice(0, -1).join('\n')}\n${rest}`).toBe(text)
  })

  it.each([
    ['read_file', { path: 'no' }, 'Cannot use file "no": there is none of that path'],
    ['read_file', { path: 'toString' }, 'Cannot use file "toString": there is none of that path'],
    [
      'read_file',
      { path: 'plan', offset: 1 },
      'Cannot read file "plan" from offset 1: it has 1 line',
    ],
    [
      'edit_file',
      { path: 'no', old: 'a', new: 'b' },
      'Cannot use file "no": there is none of that path',
    ],
    [
      'edit_file',
      { path: 'plan', old: 'y', new: 'b' },
      'Cannot edit file "plan": the text to replace is not in it',
    ],
    [
      'edit_file',
      { path: 'notes.md', old: 'e\n', new: '' },
      'Cannot edit file "notes.md": the text to replace is in it more than once; take more of what is around it',
    ],
    [
      'edit_file',
      { path: 'plan', old: '', new: 'b' },
      'Cannot edit file "plan": the text to replace is empty',
    ],
    [
      'edit_file',
      { path: 'plan', old: 'x', new: 'x' },
      'Cannot edit file "plan": the new text is the old one',
    ],
  ])('reads why %s %j failed', async (name, args, message) => {
    const { results, files } = await turn({ files: notes }, [[name, args]])
    const { error } = results[0] as unknown as { readonly error: Error }
    expect(error.message).toBe(message)
    expect(isHeddleError(error, 'tool_usage_error') && error.details).toEqual({ tool: name })
    expect(files).toBeUndefined()
  })

  it('finds overlapping places of what it wants to replace', async () => {
    const { results } = await turn({ files: { a: 'aaa' } }, [
      ['edit_file', { path: 'a', old: 'aa', new: 'b' }],
    ])
    expect(results[0]).toMatchObject({ status: 'error' })
  })

  it.each([
    ['write_todos', { todos: [{ text: 'a', status: 'ready' }] }, 'at "todos.0.status"'],
    ['write_todos', { todos: 'a' }, 'at "todos"'],
    ['write_file', { path: 'a' }, 'at "text"'],
    ['read_file', { path: 'a', offset: -1 }, 'at "offset"'],
    ['read_file', { path: 'a', limit: 0 }, 'at "limit"'],
    ['list_files', { under: 'a' }, 'at "under"'],
    ['list_files', null, 'Expected an object'],
  ])('is told which argument of %s %j is wrong', async (name, args, where) => {
    const spec = deepTools({}).find((one) => one.name === name) as Tool
    const { issues } = await spec.input['~standard'].validate(args)
    const text = issues?.map(({ path, message }) => `at "${path?.join('.')}": ${message}`)
    expect(text?.join()).toContain(where)
  })

  it('knows every tool by a name, a description and JSON Schema that says what the check does', () => {
    const tools = deepTools({}, { task: async () => ({ text: '' }), agents: { ann: 'sums' } })
    expect(tools.map(({ name }) => name)).toEqual([
      ...['write_todos', 'list_files', 'read_file', 'write_file', 'edit_file', 'task'],
    ])
    for (const { description, parameters } of tools) {
      expect(description).toMatch(/\.$/)
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false })
    }
    const [task] = tools.slice(-1)
    expect(task?.description).toContain('"ann": sums')
    expect(task?.parameters).toMatchObject({
      properties: { agent: { enum: ['ann'] } },
      required: ['description'],
    })
    expect(deepInstructions).toContain('write_todos')
    expect(taskInstructions).toContain('task')
  })
})

describe('the calls of a turn', () => {
  const edit = (old: string, by: string): Wanted => ['edit_file', { path: 'f', old, new: by }]
  const write = (text: string): Wanted => ['write_file', { path: 'f', text }]
  const read: Wanted = ['read_file', { path: 'f' }]

  it('read the files as they were before it', async () => {
    const { results, files } = await turn({ files: { f: 'old' } }, [write('new'), read])
    expect(results[1]).toMatchObject({ value: 'old' })
    expect(files).toEqual({ f: 'new' })
    expect((await turn({}, [write('new'), read])).results[1]).toMatchObject({ status: 'error' })
  })

  it('change them in the order of the calls, whichever ran first', async () => {
    const both = [write('first'), write('second')]
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { files } = await turn({ files: { f: 'old' } }, both, order)
      expect(files).toEqual({ f: 'second' })
    }
  })

  it('may each edit another part of one file', async () => {
    const { files, results } = await turn({ files: { f: 'a b c' } }, [
      ...[edit('a', '1'), edit('c', '3'), edit('b', '2')],
    ])
    expect(files).toEqual({ f: '1 2 3' })
    expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
  })

  it('fail where one is in the way of another, and are told so', async () => {
    const { files, results } = await turn({ files: { f: 'a b' } }, [
      ...[edit('a b', 'c'), edit('b', 'd'), write('whole'), edit('a', 'e')],
    ])
    expect(files).toEqual({ f: 'whole' })
    expect(results.map(({ status }) => status)).toEqual(['success', 'error', 'success', 'error'])
    expect(results[1]).toMatchObject({
      error: { message: 'Cannot edit file "f": the text to replace is not in it' },
    })
  })

  it('write the list once more or leave it as it is', async () => {
    const before = { todos: [todo('a', 'doing')] }
    expect(await turn(before, [write('x')])).not.toHaveProperty('todos')
    const lists = ['a', 'b'].map((text): Wanted => ['write_todos', { todos: [todo(text, 'done')] }])
    expect((await turn(before, lists)).todos).toEqual([todo('b', 'done')])
    expect(await turn(before, [read])).not.toHaveProperty('files')
  })

  it('count when they are replayed, and say so', async () => {
    const { files, results } = deepUpdate({ files: { f: 'a' } }, [
      { ...(await ran({ files: { f: 'a' } }, edit('a', 'b'))), replayed: true },
    ])
    expect(files).toEqual({ f: 'b' })
    expect(results[0]).toEqual({
      ...{ id: 'edit_file', tool: 'edit_file', replayed: true },
      ...{ status: 'success', value: 'Changed "f"' },
    })
  })

  it('change nothing where a hook has made another value of a result, or it is of another tool', () => {
    const results: CallResult[] = [
      { id: '1', tool: 'write_file', status: 'success', value: '[hidden]' },
      { id: '2', tool: 'toString', status: 'success', value: { path: 'f', text: 'x' } },
      { id: '3', tool: 'write_file', status: 'denied' },
    ]
    expect(deepUpdate({}, results)).toEqual({ results })
  })

  it('may name a file whatever they like', async () => {
    const names = ['__proto__', 'constructor', '', ' ', 'a/../b', 'é']
    const all = names.map((path): Wanted => ['write_file', { path, text: path }])
    const { files } = await turn({}, all)
    expect(Object.entries(files ?? {})).toEqual(names.map((path) => [path, path]))
    expect(Object.getPrototypeOf(files)).toBe(Object.prototype)
  })

  it('have tasks done by others, who read the files and may change them', async () => {
    const given: unknown[] = []
    const options: DeepOptions = {
      async task(task, _, files) {
        given.push([task, files])
        return { text: 'done', files: { ...files, f: 'theirs', g: 'new' } }
      },
      agents: { ann: 'sums' },
    }
    const calls: Wanted[] = [
      ['task', { description: 'Sum up', agent: 'ann' }],
      ['write_file', { path: 'h', text: 'mine' }],
    ]
    const state = { files: { f: 'old', h: 'old' } }
    const { files, results } = await turn(state, calls, [1, 0], options)
    expect(given).toEqual([[{ description: 'Sum up', agent: 'ann' }, state.files]])
    expect(files).toEqual({ f: 'theirs', g: 'new', h: 'mine' })
    expect(results[0]).toMatchObject({ status: 'success', value: 'done' })
  })
})

type Wanted = readonly [tool: string, args: unknown]

/** Runs calls in this order, and folds their results in the order of the calls. */
async function turn(
  state: DeepState,
  calls: readonly Wanted[],
  order: readonly number[] = calls.map((_, n) => n),
  options: DeepOptions = {},
): ReturnType<typeof fold> {
  const results: CallResult[] = []
  for (const n of order) results[n] = await ran(state, calls[n] as Wanted, options)
  return fold(state, results)
}

const fold = async (
  state: DeepState,
  results: readonly CallResult[],
): Promise<ReturnType<typeof deepUpdate>> => deepUpdate(Object.freeze(state), results)

async function ran(state: DeepState, call: Wanted, options?: DeepOptions): Promise<CallResult> {
  const [name, args] = call
  const spec = deepTools(state, options).find((one) => one.name === name) as Tool
  const { issues } = await spec.input['~standard'].validate(args)
  if (issues)
    throw new SchemaError(`Wrong arguments in the test: ${JSON.stringify(issues)}`, {} as never)
  const about = { id: name, tool: name }
  return spec.run(args, {} as never).then(
    (value): CallResult => ({ ...about, status: 'success', value }),
    (error: unknown): CallResult => ({ ...about, status: 'error', error }),
  )
}

function todo(text: string, status: Todo['status']): Todo {
  return { text, status }
}
