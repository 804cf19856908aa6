import type { Store } from 'heddle'
import { undisturbed } from './calm.ts'
import { broken } from './invariants.ts'
import { Luck } from './luck.ts'
import { install } from './platform.ts'
import { Play } from './play.ts'
import { caseOf, type Case } from './shape.ts'
import { backing, type StoreName, type Weather } from './stores.ts'
import { Truth } from './truth.ts'
import { World, type Mishap } from './world.ts'

export interface SimulateOptions {
  readonly store: StoreName
  /** How many things go wrong at most. @default Infinity */
  readonly mishaps?: number
  readonly without?: readonly Mishap[]
  readonly traced?: boolean
  /** Puts another store in the place of a strong one, to see that a bad one is found out. */
  readonly lie?: (store: Store) => Store
}

/** What came of a seed. */
export interface Simulated {
  readonly seed: number
  readonly store: StoreName
  readonly case: Case
  /** What was wrong; nothing, in a good world. */
  readonly violations: readonly string[]
  /** The same for the same seed. */
  readonly digest: string
  readonly trace: readonly string[]
  readonly turns: number
  readonly mishaps: number
}

/** Plays a seed: a graph, clients and bad luck by chance, all in a time of their own. */
export async function simulate(
  seed: number,
  { store: name, lie, ...options }: SimulateOptions,
): Promise<Simulated> {
  const world = new World({ seed, ...options })
  const theCase = caseOf(seed)
  const atomic = name === 'memory'
  const truth = new Truth(world, { exit: theCase.durability === 'exit', atomic })
  const unheard = (error: unknown): void => {
    world.violation(`nobody heard of ${String((error as Error)?.stack ?? error)}`)
  }
  process.on('unhandledRejection', unheard)
  const uninstall = install(world)
  try {
    world.calm = true
    const expected = await undisturbed(world, theCase)
    world.calm = false
    const store = backing(name, world, truth, weatherOf(seed, name), lie)
    const play = new Play(world, truth, theCase, store, name === 'kv')
    const held = async (): Promise<void> => {
      if (world.violations.length > 0) return
      for (const what of broken(truth, atomic)) world.violation(what)
      if (!atomic) return
      const there = (await store.rows()).filter((key) => !key.startsWith('h/')).sort()
      const seen = [...truth.rows.keys()].sort()
      if (String(there) !== String(seen)) world.violation(`rows are ${there}, not ${seen}`)
    }
    const end = new Luck(seed, 5).weighed({ stays: 3, removed: 2, interrupted: 2 })
    await play.play(expected, end === 'interrupted')
    if (end !== 'interrupted') await held()
    if (world.violations.length === 0 && end !== 'stays') {
      await play.remove()
      if (atomic && world.violations.length === 0)
        for (const key of await store.rows()) world.violation(`row ${key} is left after a delete`)
    }
  } finally {
    uninstall()
    process.off('unhandledRejection', unheard)
  }
  for (const [key, text] of [...truth.rows].sort(([a], [b]) => (a < b ? -1 : 1)))
    world.stamp(`${key} ${text}`)
  const { violations, trace, turns, mishaps } = world
  const digest = (world.digest >>> 0).toString(16).padStart(8, '0')
  return { seed, store: name, case: theCase, violations, digest, trace, turns, mishaps }
}

function weatherOf(seed: number, store: StoreName): Weather {
  const [lose, kill] = new Luck(seed, 4).pick([
    [0, 0],
    [0.003, 0.001],
    [0.003, 0.004],
    [0.02, 0.008],
  ] as const)
  // Without checks a head that lands after its writer has given it up is one that nobody can tell from a newer one.
  return { lose, kill, late: store !== 'kv' }
}
