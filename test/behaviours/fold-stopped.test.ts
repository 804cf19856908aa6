// A run that is stopped while its updates are folded, with nothing stored before it ends.
import { append, compile, field, graph, memory, reduced } from 'heddle'
import { expect, it } from 'vitest'
import { keepBooks } from './harness.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

// The schema answers a run that has been given up, sooner or later.
it.each(Array.from({ length: 24 }, (_, turns) => turns))(
  'leaves the state as it was before the step, so that every update counts once (%i turns)',
  async (turns) => {
    let answer: (() => void) | undefined
    let looks = (): void => {}
    const looked = new Promise<void>((resolve) => (looks = resolve))
    let answered = false
    const slow = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate(value: unknown = 0) {
          if (value === 0 || answered) return { value: Number(value) }
          looks()
          return new Promise<{ readonly value: number }>((resolve) => {
            answer = () => resolve({ value: Number(value) })
          })
        },
      },
    } as const
    const app = compile(
      graph({
        name: 'two',
        state: {
          log: reduced(field<string[]>([]), append),
          most: reduced(slow, (a: number, b: number) => Math.max(a, b)),
        },
        nodes: {
          first: () => {},
          a: () => ({ most: 1, log: ['a'] }),
          b: () => ({ log: ['b'] }),
        },
        edges: { start: 'first', first: ['a', 'b'], a: 'end', b: 'end' },
      }),
      { store: memory(), durability: 'exit', logger: silent },
    )
    const run = app.run({ thread: 't1', input: {} })
    await looked
    const cancelled = app.cancel('t1')
    for (let left = turns; left > 0; left--) await Promise.resolve()
    answered = true
    answer?.()
    await expect(run).rejects.toMatchObject({ code: 'cancelled' })
    await cancelled
    expect(await app.state('t1')).toMatchObject({ state: { most: 0, log: [] } })
    expect(await app.run({ thread: 't1' })).toMatchObject({ state: { most: 1, log: ['a', 'b'] } })
  },
)
