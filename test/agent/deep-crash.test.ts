// A deep agent whose calls change its files, a person asked in their middle and a task among them, with the store failing at
// every operation.
import { agent, compile, memory, type CompiledGraph, type ModelRequest, type Store } from 'heddle'
import { manualClock, scriptedModel, withFaults, type ScriptedReply } from 'heddle/testing'
import { describe, expect, test } from 'vitest'
import { atEvery, FAULTS } from '../behaviours/at-every.ts'
import { all, keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { noting, read, say, told, wants } from './parts.ts'

keepBooks()

const call = (tool: string, args: object): { tool: string; args: unknown } => ({ tool, args })
const edit = (path: string, old: string, by: string) => call('edit_file', { path, old, new: by })

const CALLS = [
  call('write_file', { path: 'a', text: 'first' }),
  edit('plan', 'one', '1'),
  wants('look'),
  call('write_file', { path: 'a', text: 'second' }),
  edit('plan', 'two', '2'),
  // In the way of the last one.
  edit('plan', 'two, three', '2 and 3'),
  call('write_todos', { todos: [{ text: 'look', status: 'done' }] }),
]

const ANSWERS = [
  'write_file success: Wrote "plan": 1 line',
  'write_file success: Wrote "a": 1 line',
  'edit_file success: Changed "plan"',
  'look success: {"did":"look","n":1}',
  'write_file success: Wrote "a": 1 line',
  'edit_file success: Changed "plan"',
  'edit_file error: Failed: Cannot edit file "plan": the text to replace is not in it',
  'write_todos success: The list has 1 to-dos, 1 of them done',
  'write_file success: Wrote "b": 1 line',
  'task success: Found.',
]

describe.each(['step', 'exit'] as const)('steps stored by "%s"', (durability) => {
  test.each(Object.entries(FAULTS))(
    '%s any operation: what calls change is there once, in the order of the calls',
    async (_, fault) => {
      await atEvery(fault, async (faults) => {
        const journey = new Journey(durability)
        const faulty = withFaults(memory(), faults)
        await journey.tell(faulty)
        const log = faulty.log.length
        const app = await journey.finish(faulty.restart())
        const { state } = (await app.state('t'))!
        expect(state).toMatchObject({
          files: { plan: '1, 2, three', a: 'second', b: 'theirs, of "1, 2, three"' },
          todos: [{ text: 'look', status: 'done' }],
        })
        expect(read(state as never)).toEqual(ANSWERS)
        expect(told(state['messages']).at(-1)).toBe('assistant: Done.')
        const usage = (await all(app.threads())).map((one) => one.usage)
        const runs = (await all(app.runs('t'))).map((one) => one.usage.requests ?? 0)
        expect(usage).toMatchObject([{ requests: runs.reduce((a, b) => a + b) }])
        return log
      })
    },
  )
})

/** What the model says depends on what it reads alone, so that it is the same in any process. */
function reply(request: ModelRequest): ScriptedReply {
  const answers = read(request)
  const usage = { input: 1 }
  if (!request.tools?.some(({ name }) => name === 'task')) {
    const found = answers.at(-1)
    if (!found) return { calls: [call('read_file', { path: 'plan' })], usage }
    if (!found.startsWith('read_file')) return { text: 'Found.', usage }
    const text = `theirs, of "${found.slice('read_file success: '.length)}"`
    return { calls: [call('write_file', { path: 'b', text })], usage }
  }
  if (answers.length === 0)
    return { calls: [call('write_file', { path: 'plan', text: 'one, two, three' })], usage }
  if (answers.length === 1) return { calls: CALLS, usage }
  if (answers.length > CALLS.length + 1) return { text: 'Done.', usage }
  const task = call('task', { description: 'Read the plan' })
  return { calls: [call('write_file', { path: 'b', text: 'mine' }), task], usage }
}

class Journey {
  readonly #clock = manualClock()
  readonly #durability: 'step' | 'exit'

  constructor(durability: 'step' | 'exit') {
    this.#durability = durability
  }

  open(store: Store): CompiledGraph {
    const tools = [noting('look', [], { approve: true })]
    const options = { store, clock: this.#clock, durability: this.#durability, logger: silent }
    return compile(agent({ name: 'a', model: scriptedModel(reply), tools, deep: true }), options)
  }

  /** From the first word to the last, or to the fault. */
  async tell(store: Store): Promise<void> {
    const app = this.open(store)
    try {
      const { status } = await app.run({ thread: 't', input: say('Go') })
      if (status === 'interrupted') await app.run({ thread: 't', answer: { approve: true } })
    } catch {
      // What comes of it is looked at when it has been brought to its end.
    }
  }

  /** Brings the thread to its end, whatever it takes, each time in a new process. */
  async finish(store: Store): Promise<CompiledGraph> {
    for (let round = 0; round < 8; round++) {
      const app = this.open(store)
      await this.#clock.advance(61_000)
      const now = await app.state('t')
      if (now?.status === 'success') return app
      const input = now ? {} : { input: say('Go') }
      const more = now?.status === 'interrupted' ? { answer: { approve: true } } : input
      await app.run({ thread: 't', ...more } as never)
    }
    throw new Error("it doesn't end")
  }
}
