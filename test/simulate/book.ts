import type { Truth } from './truth.ts'
import type { Client, World } from './world.ts'

/** Thrown by what fails on purpose. */
export class Flaky extends Error {
  override readonly name = 'Flaky'
}

interface Place {
  readonly run: string
  readonly task: string
}

interface Once extends Place {
  once(key: string, work: () => unknown): Promise<unknown>
}

/** What nodes do and see, held against what is stored. It outlives every process. */
export class Book {
  readonly #world: World
  /** Absent where nothing is stored that could be looked at. */
  readonly #truth: Truth | undefined
  readonly #failures = new Map<string, number>()
  /** Questions that refuse a bad answer. */
  readonly strict = new Set<string>()
  #made = 0

  constructor(world: World, truth?: Truth) {
    this.#world = world
    this.#truth = truth
  }

  /** A node begins. An owner that has lost the thread can't know what others have finished. */
  enter(ctx: Place, _client: Client | undefined): void {
    if (this.#isCurrent(ctx) && this.#truth?.finished.has(ctx.task))
      this.#world.violation(`task ${ctx.task} runs again though its result is stored`)
  }

  /** Stored work. Each time it is done makes another value. */
  async once(ctx: Once, client: Client | undefined, key: string, turns: number): Promise<void> {
    const name = `${ctx.task} o:${key}`
    const value = await ctx.once(key, async () => {
      if (this.#isCurrent(ctx) && this.#truth?.once.has(name))
        this.#world.violation(`the work of ${name} is done again though its result is stored`)
      for (let left = turns; left > 0; left--) await this.pass(client, `once ${key}`)
      return { made: ++this.#made }
    })
    if (!this.#truth || !this.#isCurrent(ctx)) return
    const stored = this.#truth.once.get(name)
    if (stored === undefined && this.#truth.exit) return
    const told = JSON.stringify(value)
    if (told !== stored) this.#world.violation(`${name} gave ${told}, stored is ${stored}`)
  }

  /** Fails the first times. */
  failOnce(key: string, times: number): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    if (failures < times) throw new Flaky(key)
  }

  answered(q: string, answer: unknown, ...expected: readonly unknown[]): void {
    if (!expected.includes(answer))
      this.#world.violation(`question "${q}" was answered ${JSON.stringify(answer)}`)
  }

  /** Waits for its turn. */
  pass(client: Client | undefined, label: string): Promise<void> {
    return client ? this.#world.pass(client, label) : Promise.resolve()
  }

  #isCurrent({ run }: Place): boolean {
    return this.#truth?.head?.run === run
  }
}
