// A delete that dies at any operation: no node of the thread runs for it, and a tick finishes the work.
import { compile, graph, memory, type CompiledGraph, type Store } from 'heddle'
import { manualClock, withFaults } from 'heddle/testing'
import { describe, expect, it } from 'vitest'

import { keepBooks, rowsOf } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

/** The same rows, in a store that doesn't promise atomic batches. */
const loose = (store: Store): Store => ({ ...store, caps: { ...store.caps, atomic: false } })

describe.each([
  ['atomic', memory],
  ['without atomic batches', () => loose(memory())],
])('on a store that is %s', (_, make) => {
  it('a tick removes what a crashed delete has left, and runs nothing', async () => {
    let at = 1
    for (let crashed = true; crashed; at++) {
      const store = make()
      const clock = manualClock()
      let calls = 0
      const open = (on: Store): CompiledGraph =>
        compile(
          graph({
            name: 'asking',
            state: {},
            nodes: {
              async ask(_state, ctx) {
                calls++
                await ctx.interrupt('Is it good?')
              },
              async nap(_state, ctx) {
                calls++
                await ctx.sleep(1_000_000)
              },
            },
            edges: { start: ['ask', 'nap'], ask: 'end', nap: 'end' },
          }),
          { store: on, clock, logger: silent },
        )
      await open(store).run({ thread: 't', input: {} })
      const before = (await rowsOf(store)).map(({ key }) => key)
      const dying = withFaults(store, [{ at, crash: 'after' }])
      await open(dying)
        .delete('t')
        .catch(() => {})
      crashed = dying.crashed
      await clock.advance(120_000)
      calls = 0
      await open(store).tick()
      expect(calls, `nodes that ran after a crash at ${at}`).toBe(0)
      const left = (await rowsOf(store)).map(({ key }) => key)
      // Before the claim nothing has happened.
      if (left.length > 0) expect(left).toEqual(before)
      expect(left.length === 0 || at <= 2, `rows are left by a crash at ${at}`).toBe(true)
    }
    expect(at).toBeGreaterThan(4)
  })
})
