import { describe, expect, it } from 'vitest'
import { isHeddleError } from '../../src/errors.ts'
import { each, goto, type Graph } from '../../src/graph/graph.ts'
import { plan, targets } from '../../src/graph/plan.ts'

const run = (): void => {}
const made = plan({
  name: 'g',
  state: {},
  nodes: { a: run, b: run, toString: run },
  edges: { start: 'a', a: 'b', b: 'end', toString: 'end' },
} satisfies Graph)
const [a, b, odd] = [...made.nodes.values()]

describe('a target becomes', () => {
  it('a node, for its name', () => {
    expect(targets(made, 'a', 'start')).toEqual([a])
    expect(targets(made, 'toString', 'start')).toEqual([odd])
  })

  it('nothing, for "end" and an empty list', () => {
    expect(targets(made, 'end', 'a')).toEqual([])
    expect(targets(made, [], 'a')).toEqual([])
    expect(targets(made, ['end'], 'a')).toEqual([])
  })

  it('no task but the node, for an each without items: a join may wait for it', () => {
    expect(targets(made, ['end', each('b', [])], 'a')).toEqual([{ each: b, items: [] }])
  })

  it('each node once, in the order of the list', () => {
    expect(targets(made, ['b', 'a', 'end', 'b'], 'start')).toEqual([b, a])
  })

  it('tasks, for an each, also of a node that is named beside it', () => {
    const items = [1, undefined, null]
    expect(targets(made, each('b', items), 'a')).toEqual([{ each: b, items }])
    const twice = [each('b', [1]), 'b', each('b', [2])]
    expect(targets(made, twice, 'a')).toEqual([{ each: b, items: [1] }, b, { each: b, items: [2] }])
  })

  it('what the edge declares, where it declares names', () => {
    expect(targets(made, ['b', each('a', [1])], 'a', ['a', 'b'])).toEqual([
      b,
      { each: a, items: [1] },
    ])
    expect(targets(made, 'end', 'a', ['end'])).toEqual([])
  })
})

describe('a target is refused for', () => {
  it.each([
    ['an unknown name', 'c', '"c" is not a node'],
    ['an unknown name among others', ['a', 'c'], '"c" is not a node'],
    ['an inherited name', 'constructor', '"constructor" is not a node'],
    ['start', 'start', '"start" is not a node'],
    ['nothing', undefined, 'undefined is not a node'],
    ['null', null, 'object is not a node'],
    ['a number', 0, '0 is not a node'],
    ['a list in a list', [['a']], 'object is not a node'],
    ['a goto', goto('a'), 'object is not a node'],
    ['an object that looks like an each', { each: 'a', items: [1] }, 'object is not a node'],
    ['an each to an unknown node', each('c', [1]), '"c" is not a node'],
    ['an each to an unknown node, without items', each('c', []), '"c" is not a node'],
    ['an each to the end', each('end', [1]), '"end" is not a node'],
    [
      'items that are no list',
      each('a', new Set([1]) as never),
      'the items for "a" are not a list',
    ],
    ['items that are missing', each('a', undefined as never), 'the items for "a" are not a list'],
  ])('%s', (_, target, problem) => {
    expect(refusal(target)).toEqual({
      message: `Cannot leave "b" in graph "g": ${problem}`,
      details: { graph: 'g', node: 'b', problem },
    })
  })

  it('a name that the edge does not declare', () => {
    expect(refusal('b', ['a', 'end'])).toMatchObject({
      details: { problem: '"b" is not among its "to"' },
    })
    expect(refusal('end', ['a'])).toMatchObject({
      details: { problem: '"end" is not among its "to"' },
    })
    expect(refusal(each('b', [1]), ['a'])).toMatchObject({
      details: { problem: '"b" is not among its "to"' },
    })
  })
})

function refusal(target: unknown, to?: readonly string[]): { message: string; details: unknown } {
  try {
    targets(made, target, 'b', to)
  } catch (error) {
    if (isHeddleError(error, 'graph_invalid')) {
      return { message: error.message, details: error.details }
    }
    throw error
  }
  throw new Error('It was not refused')
}
