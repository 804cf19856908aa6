// B01: several questions inside one node.
import { expect } from 'vitest'
import { field, graph, type Graph } from 'heddle'
import { everyWay, keepBooks } from './harness.ts'

keepBooks()

everyWay(
  'a node that asks in a loop gets each answer once, and the next node gets none',
  async (open) => {
    const calls = { ask: 0, last: 0 }
    const log: number[][] = []
    const story = open(() => loop(calls, log))

    for (const [q, send] of [
      [1, () => story.start()],
      [2, () => story.answerOne('yes')],
      [3, () => story.answerOne('yes')],
    ] as const) {
      const pass = await send()
      expect(pass.status).toBe('interrupted')
      expect(pass.open.map(({ payload }) => payload)).toEqual([{ q }])
      expect((await story.snapshot()).next).toEqual(['ask'])
    }

    const asked = await story.answerOne('no')
    expect(log).toEqual([[1], [1, 2], [1, 2, 3], [1, 2, 3]])
    expect(calls).toEqual({ ask: 4, last: 1 })
    expect(asked.state).toEqual({ n: 3 })
    expect(asked.open).toMatchObject([{ node: 'last', payload: 'final' }])

    const ended = await story.answerOne('ok')
    expect(ended).toMatchObject({ status: 'success', state: { n: 3, r: 'ok' } })
    expect(calls).toEqual({ ask: 4, last: 2 })
    expect(story.events('interrupt')).toHaveLength(4)
  },
)

function loop(calls: { ask: number; last: number }, log: number[][]): Graph {
  return graph({
    name: 'loop',
    state: { n: field<unknown>(undefined), r: field<unknown>(undefined) },
    nodes: {
      async ask(_, ctx) {
        calls.ask++
        const pass: number[] = []
        log.push(pass)
        for (let i = 1; ; i++) {
          pass.push(i)
          if ((await ctx.interrupt({ q: i })) === 'no') return { n: i }
        }
      },
      async last(_, ctx) {
        calls.last++
        return { r: await ctx.interrupt('final') }
      },
    },
    edges: { start: 'ask', ask: 'last', last: 'end' },
  })
}
