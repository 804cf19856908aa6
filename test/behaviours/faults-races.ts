// B08: of two who answer one question exactly one wins, and the other hears it.
import {
  compile,
  field,
  graph,
  isHeddleError,
  type CompiledGraph,
  type Graph,
  type Store,
} from 'heddle'
import { withFaults } from 'heddle/testing'
import { mulberry32, unevenStore } from './luck.ts'
import { oneLine } from './faults-tools.ts'
import { equal, pause, refusedWith, type Cases } from './portable.ts'
import { silent } from '../fakes/silent.ts'

const ROUNDS = 10
const LATE = ['nothing_to_resume', 'resume_conflict']

export const raceCases: Cases = {
  async 'two apps answer at once: one wins, and nothing happens twice'(reopen) {
    // One writer at a time was promised where nothing could tell two apart.
    if (!(await reopen()).caps.atomic) return
    const random = mulberry32(8)
    for (let round = 0; round < ROUNDS; round++) {
      const thread = `t${round}`
      const desk = new Desk()
      await desk.on(await reopen()).run({ thread, input: {} })
      const apps = [await reopen(), await reopen()].map((store) =>
        desk.on(round < 3 ? store : unevenStore(store, random)),
      )
      const [question] = await apps[0]!.interruptions({ thread })
      const ends = await Promise.all(
        apps.map((app, n) =>
          app.run({ thread, answers: { [question!.id]: `by ${n}` } }).then(
            ({ status }) => status as string,
            (error: unknown) => (isHeddleError(error) ? error.code : String(error)),
          ),
        ),
      )
      const winner = ends.indexOf('success')
      equal(
        LATE.includes(ends[1 - winner]!),
        true,
        `round ${round}: one success and one too late, got ${ends.join()}`,
      )
      await settled(apps[0]!, desk, thread, `by ${winner}`)
    }
  },

  async 'who is held up at any operation before it has claimed comes too late'(reopen) {
    const seen = new Set<string>()
    for (let at = 1; ; at++) {
      const thread = `t${at}`
      const desk = new Desk()
      const store = await reopen()
      await desk.on(store).run({ thread, input: {} })
      const held = withFaults(await reopen(), [{ at, freeze: true }])
      let end: string | undefined
      const late = desk
        .on(held)
        .run({ thread, answer: 'late' })
        .then(
          () => 'success',
          (error: unknown) => (isHeddleError(error) ? error.code : String(error)),
        )
        .then((found) => (end = found))
      while (held.log.length < at && end === undefined) await pause(1)
      // From its first commit on it may have won.
      const claims = held.log.filter(({ op }) => op === 'commit').length
      if (claims < 2) await desk.on(store).run({ thread, answer: 'early' })
      held.release()
      seen.add(await late)
      if (claims >= 2) break
      equal(LATE.includes(end!), true, `too late at operation ${at}, got ${end}`)
      await settled(desk.on(store), desk, thread, 'early')
    }
    equal([...seen].sort(), ['nothing_to_resume', 'resume_conflict', 'success'], 'how they ended')
  },
}

/** What is true after a race, whoever won it. */
async function settled(app: CompiledGraph, desk: Desk, thread: string, won: string): Promise<void> {
  equal(desk.calls, { gate: 2, pay: 1 }, 'calls')
  equal((await app.state(thread))?.state, { word: won }, 'state')
  const answered = await app.interruptions({ thread, status: 'answered' })
  equal(
    answered.map(({ answer }) => answer),
    [won],
    'answers',
  )
  await oneLine(app, thread)
  await refusedWith('nothing_to_resume', () => app.run({ thread, answer: 'third' }))
}

/** One node asks, the next one pays. */
class Desk {
  readonly calls = { gate: 0, pay: 0 }

  on(store: Store): CompiledGraph {
    return compile(this.#graph(), { store, logger: silent })
  }

  #graph(): Graph {
    const { calls } = this
    return graph({
      name: 'desk',
      state: { word: field('') },
      nodes: {
        gate: async (_, ctx) => {
          calls.gate++
          return { word: String(await ctx.interrupt('Pay?')) }
        },
        pay: () => {
          calls.pay++
        },
      },
      edges: { start: 'gate', gate: 'pay', pay: 'end' },
    })
  }
}
