import { expect, it } from 'vitest'
import { Meter, usageOfThread } from '../../src/engine/meter.ts'
import type { Head } from '../../src/durable/head.ts'

const nothing = { toolCalls: 0, modelCalls: 0, ms: 0 }

it('counts a call when it ends, for the run and for the thread', () => {
  const { meter, head } = made([
    [1, 0, 0],
    [5, 2, 0],
  ])
  const use = meter.begin('tool')
  expect(use.used).toMatchObject({ run: { toolCalls: 1 }, thread: { toolCalls: 5 } })
  expect(head.used?.[0][0]).toBe(1)
  use.end(true)
  expect(head.used).toEqual([
    [2, 0, 0],
    [6, 2, 0],
  ])
})

it('counts a call once, however often it is said to have ended', () => {
  const { meter } = made()
  const use = meter.begin('model')
  use.end(true)
  use.end(true)
  use.end(false)
  expect(meter.used.run).toEqual({ ...nothing, modelCalls: 1 })
})

it('tells each of several calls side by side which number it has, in the order in which they began', () => {
  const { meter } = made()
  const uses = ['tool', 'model', 'tool'].map((kind) => meter.begin(kind as 'tool'))
  const numbers = uses.map(({ used: { run } }) => [run.toolCalls, run.modelCalls])
  expect(numbers).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
  ])
})

it('keeps the number of a call when one that began after it has ended first', () => {
  const { meter } = made()
  const [first, second] = [meter.begin('tool'), meter.begin('tool')]
  second.end(true)
  expect(first.used.run.toolCalls).toBe(0)
  first.end(true)
  expect(meter.begin('tool').used.run.toolCalls).toBe(2)
})

it('gives the place of a call that was refused to those behind it', () => {
  const { meter } = made()
  const [first, second] = [meter.begin('tool'), meter.begin('tool')]
  first.end(false)
  expect(second.used.run.toolCalls).toBe(0)
})

it('keeps the place of a call that waits until what called it is tried again', () => {
  const { meter } = made()
  let held = true
  meter.begin('tool', () => held)
  expect(meter.begin('tool').used.run.toolCalls).toBe(1)
  held = false
  expect(meter.begin('tool').used.run.toolCalls).toBe(1)
})

it('leaves out what nobody reported, and adds up what was', () => {
  const { meter } = made()
  meter.begin('model').end(true)
  expect(meter.used.run).not.toHaveProperty('tokens')
  meter.begin('model').end(true, { cost: 0.25 })
  meter.begin('model').end(true, { total: 40, cost: 0.5 })
  meter.begin('model').end(true, { total: 2 })
  const { run, thread } = meter.used
  expect(run).toEqual({ ...nothing, modelCalls: 4, tokens: 42, cost: 0.75 })
  expect(thread).toEqual(run)
  expect(meter.usage).toEqual({ total: 42, cost: 0.75 })
})

it('counts the tokens of parts where no total was reported', () => {
  const { meter } = made()
  meter.begin('model').end(true, { input: 30, output: 4, requests: 1 })
  meter.begin('model').end(true, { total: 100, input: 1, output: 1, requests: 2 })
  expect(meter.used.run).toMatchObject({ modelCalls: 2, tokens: 134 })
  expect(meter.usage).toEqual({ input: 31, output: 5, total: 134, requests: 3 })
})

it('counts what a call reported that does not count itself', () => {
  const { meter } = made()
  meter.begin('model').end(false, { total: 7 })
  expect(meter.used.run).toEqual({ ...nothing, tokens: 7 })
})

it('keeps apart what the run itself was told of, what its chain was, and what the thread was', () => {
  const { meter, head } = made([
    [0, 1, 0, 10],
    [0, 3, 0, 50, null, 40, 10],
  ])
  meter.begin('model').end(true, { input: 2, output: 3, cacheRead: 1 })
  expect(meter.usage).toEqual({ input: 2, output: 3, total: 5, cacheRead: 1 })
  expect(meter.used).toMatchObject({ run: { tokens: 15 }, thread: { tokens: 55 } })
  expect(usageOfThread(head)).toEqual({ input: 42, output: 13, total: 55, cacheRead: 1 })
})

it('writes nothing down of models before one was asked', () => {
  const { meter, head } = made()
  meter.begin('tool').end(true)
  expect(head).toEqual({
    used: [
      [1, 0, 0],
      [1, 0, 0],
    ],
  })
})

it('adds the time that its head does not count yet', () => {
  const { meter, after } = made([
    [0, 0, 100],
    [0, 0, 900],
  ])
  after(50)
  expect(meter.used).toMatchObject({ run: { ms: 150 }, thread: { ms: 950 } })
})

it('a head that falls back to what is stored takes the counts back', () => {
  const { meter, head } = made()
  meter.begin('tool').end(true)
  head.used = undefined
  expect(meter.used.run).toEqual(nothing)
})

function made(used?: Head['used']): {
  readonly meter: Meter
  readonly head: Pick<Head, 'used' | 'usage'>
  after(ms: number): void
} {
  let ran = 0
  const head: Pick<Head, 'used' | 'usage'> = used ? { used } : {}
  return { meter: new Meter(head, () => ran), head, after: (ms) => void (ran = ms) }
}
