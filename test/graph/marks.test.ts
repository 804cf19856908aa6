import { describe, expect, it } from 'vitest'
import { each, goto, graph, isEach, isGoto } from '../../src/graph/graph.ts'

describe('goto', () => {
  it('keeps where to go and what changes', () => {
    expect(goto('a')).toMatchObject({ goto: 'a', update: {} })
    expect(goto(['a', 'end'], { n: 1 })).toMatchObject({ goto: ['a', 'end'], update: { n: 1 } })
  })

  it('is told from updates, however they look', () => {
    expect(isGoto(goto('a'))).toBe(true)
    for (const other of [...lookalikes, each('a', [])]) expect(isGoto(other)).toBe(false)
  })
})

describe('each', () => {
  it('keeps the node and the items', () => {
    const items = [{ file: 'x' }]
    expect(each('scan', items)).toMatchObject({ each: 'scan', items })
  })

  it('is told from anything else a router returns', () => {
    expect(isEach(each('a', []))).toBe(true)
    for (const other of [...lookalikes, goto('a')]) expect(isEach(other)).toBe(false)
  })
})

it('goto and each are known to another copy of the package', async () => {
  const copy = (await import(
    /* @vite-ignore */ `${new URL('../../src/graph/graph.ts', import.meta.url).href}?copy`
  )) as { isGoto: typeof isGoto; isEach: typeof isEach; goto: typeof goto; each: typeof each }
  expect(copy.goto).not.toBe(goto)
  expect(copy.isGoto(goto('a'))).toBe(true)
  expect(copy.isEach(each('a', []))).toBe(true)
  expect(isGoto(copy.goto('a'))).toBe(true)
  expect(isEach(copy.each('a', []))).toBe(true)
})

it('graph returns the same object', () => {
  const table = {
    name: 'g',
    state: {},
    nodes: { a: (): void => {} },
    edges: { start: 'a', a: 'end' },
  } as const
  expect(graph(table)).toBe(table)
})

const lookalikes: unknown[] = [
  undefined,
  null,
  'goto',
  0,
  {},
  { goto: 'a', update: {} },
  { each: 'a', items: [] },
  { '~heddle': 'heddle.goto', goto: 'a', update: {} },
  { '~heddle': true, each: 'a', items: [] },
  // What goes through JSON can't pass for one.
  JSON.parse(JSON.stringify(goto('a'))),
  JSON.parse(JSON.stringify(each('a', []))),
]
