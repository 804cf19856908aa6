import {
  agent,
  compile,
  memory,
  tool,
  type Batch,
  type Model,
  type ModelEvent,
  type Store,
} from 'heddle'
import * as z from 'zod'
import { version } from '../../package.json'
import type { Bytes, Candidate, Ending, Loop } from './loop.ts'

/** An agent on the memory store: each step is a commit, or the run is two. */
export const heddle: Candidate = {
  version,
  kept: ['nothing', 'each step'],
  make(turns, kept): Loop {
    let calls = 0
    const add = tool({
      name: 'add',
      description: 'Adds two numbers.',
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => {
        calls++
        return String(a + b)
      },
    })
    const adder = agent({ name: 'adder', model: fake(turns), tools: [add], maxTurns: turns + 5 })
    const durability = kept === 'nothing' ? 'exit' : 'step'
    const open = (store: Store) => compile(adder, { store, durability, stepLimit: turns * 3 })
    let app = open(memory())
    const run = async (on = app): Promise<Ending> => {
      calls = 0
      const messages = [{ role: 'user', text: 'go' }] as const
      const { state } = await on.run({ thread: 't', input: { messages } })
      return { calls, text: state.messages.at(-1)!.text }
    }
    return {
      run: () => run(),
      async bytes() {
        const { store, bytes } = counting(memory())
        await run(open(store))
        return bytes()
      },
      // Opening the agent on a store is counted, too.
      reset() {
        app = open(memory())
      },
    }
  },
}

/** Asks for the tool so many times, then says it is done. */
function fake(turns: number): Model {
  return {
    provider: 'fake',
    model: 'adder',
    async *stream({ messages }): AsyncGenerator<ModelEvent> {
      const k = messages.filter(({ role }) => role === 'tool').length
      if (k === turns) yield { kind: 'text', delta: 'done' }
      else yield { kind: 'call', id: `call_${k}`, tool: 'add', raw: JSON.stringify({ a: k, b: 1 }) }
      const usage = { input: 1, output: 1 }
      yield { kind: 'finish', reason: k === turns ? 'stop' : 'calls', usage }
    },
  }
}

/** A store that counts what is written to it, keys included. */
function counting(store: Store): { readonly store: Store; readonly bytes: () => Bytes } {
  const rows = new Map<string, number>()
  let written = 0
  const commit = (batch: Batch): ReturnType<Store['commit']> => {
    for (const { key, value } of batch.puts ?? []) {
      rows.set(key, key.length + value.length)
      written += key.length + value.length
    }
    for (const key of batch.deletes ?? []) rows.delete(key)
    return store.commit(batch)
  }
  const left = (): number => [...rows.values()].reduce((sum, size) => sum + size, 0)
  return { store: { ...store, commit }, bytes: () => ({ left: left(), written }) }
}
