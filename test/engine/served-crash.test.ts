import { compile, field, graph, memory, type Graph, type Metadata } from 'heddle'
import { manualClock, scriptedModel, withFaults } from 'heddle/testing'
import { expect, it } from 'vitest'
import { readStart } from '../../src/durable/run-record.ts'
import { atEvery, FAULTS } from '../behaviours/at-every.ts'
import { all } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { open } from './watch-parts.ts'

for (const durability of ['step', 'exit'] as const)
  for (const [name, fault] of Object.entries(FAULTS))
    it(`asks no model that isn’t on record of its run, with ${name} every operation (${durability})`, () =>
      atEvery(fault, async (faults) => {
        const { store, rows } = open(memory())
        const faulty = withFaults(store, faults)
        const clock = manualClock()
        const asked: Asked[] = []
        const options = { clock, durability, logger: silent }
        const process = (over: typeof faulty) =>
          compile(asking(asked, rows), { ...options, store: over })
        let app = process(faulty)
        for (let tries = 0; ; tries++) {
          expect(tries).toBeLessThan(9)
          try {
            const there = await app.state('t1')
            if (there?.status === 'success') break
            await app.run(there ? { thread: 't1' } : { thread: 't1', input: {} })
          } catch {
            // Whoever died has its lease until it ends.
            clock.set(new Date(clock.now() + 120_000))
          }
          if (faulty.crashed) app = process(faulty.restart())
        }
        expect(asked.filter(({ recorded }) => !recorded)).toEqual([])
        const runs = await all(process(faulty.restart()).runs('t1'))
        for (const { id, metadata } of runs) {
          const models = asked.filter(({ run }) => run === id).map(({ model }) => model)
          holds(metadata, models)
        }
        return faulty.log.length
      }))

interface Asked {
  readonly run: string
  readonly model: string
  readonly recorded: boolean
}

/** A run says which models it has asked, and perhaps one more that it died before asking. */
function holds({ llm }: Metadata, models: readonly string[]): void {
  const { others = [], ...first } = Object(llm) as { model: string; others?: { model: string }[] }
  const told = llm === undefined ? [] : [first, ...others].map(({ model }) => model)
  expect(told.slice(0, models.length)).toEqual(models)
  expect(told.length - models.length).toBeLessThanOrEqual(1)
}

/** A graph that asks two models in one node, which see whether they are on record of the run that asks. */
function asking(asked: Asked[], rows: ReadonlyMap<string, string>): Graph {
  const model = (name: string, run: string) => {
    const text = JSON.stringify({ provider: 'p', model: name })
    const see = (): { text: string } => {
      const starts = [...rows].filter(([key]) => /\/r\/[0-9a-z]{10}$/.test(key))
      const start = starts.find(([, row]) => readStart(row).id === run)?.[0]
      const recorded = [...rows].some(([key, row]) => key.startsWith(`${start}.m`) && row === text)
      asked.push({ run, model: name, recorded })
      return { text: name }
    }
    return scriptedModel(see, { provider: 'p', model: name })
  }
  return graph({
    name: 'asked',
    state: { said: field<string>('') },
    nodes: {
      say: async (_, ctx) => {
        await ctx.generate(model('a', ctx.run), { messages: 'hi' })
        await ctx.generate(model('b', ctx.run), { messages: 'hi' })
      },
    },
    edges: { start: 'say', say: 'end' },
  }) as never
}
