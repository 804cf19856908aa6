import { compile, memory, type CompiledGraph, type MonitorEvent, type Run } from 'heddle'
import { manualClock, withFaults, type Fault, type ManualClock } from 'heddle/testing'
import { expect, it } from 'vitest'
import { atEvery, FAULTS } from '../behaviours/at-every.ts'
import { all } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { open, steps, truth, Watcher } from './watch-parts.ts'

const durabilities = ['step', 'exit'] as const

for (const durability of durabilities)
  for (const [name, fault] of Object.entries(FAULTS))
    it(`tells what is saved, and nothing twice, with ${name} every operation (${durability})`, () =>
      atEvery(fault, async (faults) => {
        const journey = new Journey(durability, faults)
        const operations = await journey.told()
        expect(journey.truths).toEqual(journey.seen.told.map(() => true))
        const keys = journey.seen.told.map(named)
        expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([])
        // Whoever died may have left its last word unsaid: never an end that its record doesn't know.
        for (const { id, status, error } of await journey.runs()) {
          const ends = journey.seen.told.filter(
            ({ kind, run }) => run === id && (kind === 'run_end' || kind === 'run_error'),
          )
          expect(ends.length).toBeLessThanOrEqual(1)
          if (ends[0]?.kind === 'run_end') expect(status).toBe('success')
          if (ends[0]?.kind === 'run_error') expect(error?.message).toBe(ends[0].error)
        }
        return operations
      }))

it('would find an event that comes too early', () => {
  const about = { run: 'run_1', thread: 't1', at: '2026-03-01T08:00:00.000Z' }
  expect(truth({ ...about, kind: 'run_start' }, new Map())).toBe(
    'run_start: run "run_1" is not saved',
  )
})

const named = ({ kind, run, ...more }: MonitorEvent): string =>
  `${kind} ${'interruptionId' in more ? more.interruptionId : run}`

/** A thread that asks twice, fails, and is brought to its end by whatever it takes, the first process with its faults. */
class Journey {
  readonly truths: (true | string)[] = []
  readonly seen: Watcher
  readonly #clock: ManualClock = manualClock()
  readonly #faulty: ReturnType<typeof withFaults>
  readonly #durability: 'step' | 'exit'
  #app: CompiledGraph
  #fails = 1

  constructor(durability: 'step' | 'exit', faults: readonly Fault[]) {
    const { store, rows } = open(memory())
    this.seen = new Watcher((event) => {
      this.truths.push(truth(event, rows))
    })
    this.#faulty = withFaults(store, faults)
    this.#durability = durability
    this.#app = this.#process(this.#faulty)
  }

  #process(store: ReturnType<typeof withFaults>): CompiledGraph {
    const asking = steps(async (ctx) => {
      const [one, two] = await Promise.all([ctx.interrupt('one'), ctx.interrupt('two')])
      if (this.#fails-- > 0) throw new Error('not yet')
      return { said: `${one} ${two}` }
    })
    const options = { store, clock: this.#clock, durability: this.#durability, logger: silent }
    return compile(asking, { ...options, ...this.seen.both })
  }

  /** The records of its runs, read without faults. */
  runs(): Promise<Run[]> {
    return all(this.#process(this.#faulty.restart()).runs('t1'))
  }

  /** Comes to the end, and says how many operations the first process had. */
  async told(): Promise<number> {
    for (let tries = 0; ; tries++) {
      expect(tries).toBeLessThan(12)
      try {
        const now = await this.#app.state('t1')
        if (now?.status === 'success') break
        const [first] = now?.interruptions ?? []
        if (now === undefined) await this.#app.run({ thread: 't1', input: {} })
        else if (first) await this.#app.run({ thread: 't1', answers: { [first.id]: 'yes' } })
        else await this.#app.run({ thread: 't1' })
      } catch {
        // Whoever died has its lease until it ends; whoever lost a reply, too.
        this.#clock.set(new Date(this.#clock.now() + 120_000))
      }
      if (this.#faulty.crashed) this.#app = this.#process(this.#faulty.restart())
    }
    return this.#faulty.log.length
  }
}
