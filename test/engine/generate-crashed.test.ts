// A crash at any operation of the store repeats no request whose reply was stored, and what was used is counted.
import { describe, expect, test } from 'vitest'
import {
  compile,
  memory,
  type CompiledGraph,
  type Hook,
  type ModelRequest,
  type Store,
} from 'heddle'
import { manualClock, scriptedModel, withFaults } from 'heddle/testing'
import { atEvery, broughtToEnd, FAULTS } from '../behaviours/at-every.ts'
import { calling } from '../behaviours/calls-parts.ts'
import { keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

const asked = ({ messages }: ModelRequest): string => messages[0]?.text ?? ''

for (const durability of ['step', 'exit'] as const)
  for (const [name, fault] of Object.entries(FAULTS))
    for (const watched of [false, true])
      describe(`steps stored by "${durability}", ${watched ? 'with' : 'without'} hooks after`, () => {
        test(`${name} any operation of two requests gives each one reply`, async () => {
          await atEvery(fault, async (faults) => {
            const desk = world(durability, watched)
            const faulty = withFaults(memory(), faults)
            await desk
              .open(faulty)
              .run({ thread: 't', input: {} })
              .catch(() => {})
            await desk.finish(faulty.restart())
            // One that was made when the process died may not have been stored.
            expect(desk.model.requests.length).toBeLessThan(5)
            expect(desk.ids).toEqual({ one: 1, two: 1 })
            return faulty.log.length
          })
        })

        test(`${name} any operation after the answer makes no request again`, async () => {
          await atEvery(fault, async (faults) => {
            const desk = world(durability, watched)
            const store = memory()
            const { status, usage } = await desk.open(store).run({ thread: 't', input: {} })
            expect([status, usage.requests, usage.input]).toEqual(['interrupted', 2, 20])
            const faulty = withFaults(store, faults)
            await desk
              .open(faulty)
              .run({ thread: 't', answer: true })
              .catch(() => {})
            await desk.finish(store)
            expect(desk.model.requests.map(asked)).toEqual(['one', 'two'])
            return faulty.log.length
          })
        })
      })

interface World {
  readonly model: ReturnType<typeof scriptedModel>
  /** How many ids each request was made under. */
  readonly ids: Readonly<Record<string, number>>
  open(store: Store): CompiledGraph
  /** Brings the thread to its end, whatever it takes. */
  finish(store: Store): Promise<void>
}

function world(durability: 'step' | 'exit', watched: boolean): World {
  const clock = manualClock()
  const ids = new Map<string, Set<string>>()
  const model = scriptedModel((request) => ({ text: asked(request), usage: { input: 10 } }))
  const told: typeof model = {
    ...model,
    stream(request, options) {
      const seen = ids.get(asked(request)) ?? new Set()
      ids.set(asked(request), seen.add(options.call))
      return model.stream(request, options)
    },
  }
  const hooks: Hook[] = watched ? [{ afterLlm() {} }] : []
  const work = calling(async (ctx) => {
    const replies = await Promise.all(
      ['one', 'two'].map((messages) => ctx.generate(told, { messages })),
    )
    return [...replies.map(({ text }) => text), await ctx.interrupt('ok?')]
  })
  const open = (store: Store): CompiledGraph =>
    compile(work, { store, hooks, clock, durability, logger: silent })
  return {
    model,
    open,
    get ids() {
      return Object.fromEntries([...ids].map(([name, seen]) => [name, seen.size]))
    },
    finish: (store) => broughtToEnd(() => open(store), clock, { out: ['one', 'two', true] }),
  }
}
