// B09 and B10 for tools: a crash at any operation of the store repeats no call whose result was stored, and loses none.
import { describe, expect, test } from 'vitest'
import { compile, memory, type CompiledGraph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { silent } from '../fakes/silent.ts'
import { calling, counted, Counts } from './calls-parts.ts'
import { atEvery, broughtToEnd, FAULTS } from './at-every.ts'
import { keepBooks } from './harness.ts'

keepBooks()

for (const durability of ['step', 'exit'] as const) {
  for (const [name, fault] of Object.entries(FAULTS)) {
    describe(`steps stored by "${durability}"`, () => {
      test(`${name} any operation of a batch runs each call under one id, to one result`, async () => {
        await atEvery(fault, async (faults) => {
          const desk = world(durability)
          const faulty = withFaults(memory(), faults)
          await desk
            .open(faulty)
            .run({ thread: 't', input: {} })
            .catch(() => {})
          await desk.finish(faulty.restart())
          expect(desk.ids).toEqual({ list: 1, mail: 1, del: 1 })
          // One that ran when the process died may not have been stored.
          expect(Math.max(desk.counts.of('list'), desk.counts.of('mail'))).toBeLessThan(3)
          return faulty.log.length
        })
      })

      test(`${name} any operation of the answer runs again only what waited`, async () => {
        await atEvery(fault, async (faults) => {
          const desk = world(durability)
          const store = memory()
          const { status } = await desk.open(store).run({ thread: 't', input: {} })
          expect(status).toBe('interrupted')
          const faulty = withFaults(store, faults)
          await desk
            .open(faulty)
            .run({ thread: 't', answer: true })
            .catch(() => {})
          await desk.finish(store)
          expect([desk.counts.of('list'), desk.counts.of('mail')]).toEqual([1, 1])
          expect(desk.ids).toEqual({ list: 1, mail: 1, del: 1 })
          return faulty.log.length
        })
      })
    })
  }
}

interface World {
  readonly counts: Counts
  /** How many ids each tool was called under. */
  readonly ids: Readonly<Record<string, number>>
  open(store: Store): CompiledGraph
  /** Brings the thread to its end, whatever it takes. */
  finish(store: Store): Promise<void>
}

function world(durability: 'step' | 'exit'): World {
  const clock = manualClock()
  const counts = new Counts()
  const ids = new Map<string, Set<string>>()
  const tools = ['list', 'mail', 'del'].map((name) =>
    counted(counts, name, async (_, ctx) => {
      const seen = ids.get(name) ?? new Set()
      ids.set(name, seen.add(ctx.callId))
      return name === 'del' ? ctx.interrupt('del?') : name
    }),
  )
  const work = calling(async (ctx) => {
    const results = await ctx.callAll(tools.map(({ name }) => ({ tool: name, args: {} })))
    return results.map((one) => (one.status === 'success' ? one.value : one.status))
  })
  const open = (store: Store): CompiledGraph =>
    compile(work, { store, tools, clock, durability, logger: silent })
  return {
    counts,
    open,
    get ids() {
      return Object.fromEntries([...ids].map(([name, seen]) => [name, seen.size]))
    },
    finish: (store) => broughtToEnd(() => open(store), clock, { out: ['list', 'mail', true] }),
  }
}
