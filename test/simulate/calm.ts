import { compile, type Interruption } from 'heddle'
import { Book } from './book.ts'
import { answerTo, build, type Asked } from './graphs.ts'
import type { Case } from './shape.ts'
import type { World } from './world.ts'
import { silent } from '../fakes/silent.ts'

/** What the state is after each input when nothing goes wrong: one process, a store that always answers, a clock that waits for nobody. */
export async function undisturbed(world: World, { shape, inputs }: Case): Promise<string[]> {
  const states: string[] = []
  const book = new Book(world)
  let made = 0
  const app = compile(build(shape, book, undefined), {
    clock: {
      now: () => world.time,
      after: (ms, call) => world.timer(undefined, 'timer', ms, call),
    },
    random: () => 0.5,
    newId: (prefix) => `${prefix}${++made}`,
    logger: silent,
  })
  const thread = 't'
  for (let turn = 1; turn <= inputs; turn++) {
    let request: object = { input: { turn } }
    for (let left = 500; ; left--) {
      if (left === 0) throw new Error('Cannot tell how the thread ends: it goes on and on')
      const run = app.run({ thread, ...request } as never).catch((error: unknown) => {
        if ((error as Error).name !== 'Flaky') throw error
      })
      const outcome = await settled(world, run)
      request = {}
      if (outcome?.status === 'success') break
      if (outcome?.status === 'waiting')
        world.time = Math.max(...outcome.timers.map(({ wakeAt }) => Date.parse(wakeAt)))
      if (outcome?.status === 'interrupted') request = { answers: answersOf(outcome.interruptions) }
    }
    states.push(JSON.stringify((await app.state(thread))?.state))
  }
  return states
}

/** Lets timers fire until it is settled. */
async function settled<Value>(world: World, work: Promise<Value>): Promise<Value> {
  let over = false
  const done = (): void => void (over = true)
  work.then(done, done)
  while ((await world.turn()) || !over) if (over) break
  return work
}

/** Answers to all of them. */
export const answersOf = (open: readonly Interruption[]): Record<string, string> =>
  Object.fromEntries(open.map(({ id, payload }) => [id, answerTo(payload as Asked)]))
