import type { Cell } from '../durable/codec.ts'
import type { Entry } from '../durable/journal.ts'
import type { PauseRecord } from '../durable/pause.ts'
import type { JsonSchema } from '../schema.ts'
import type { Execution } from './execution.ts'
import type { Level } from './level.ts'
import { patience } from './place.ts'

/** A pause that a task has reached and no record exists of yet. */
export interface Ask {
  readonly execution: Execution
  readonly place: string
  readonly kind: PauseRecord['kind']
  readonly payload: Cell
  readonly key?: string | undefined
  readonly due?: number | undefined
  readonly schema?: JsonSchema | undefined
}

/** How a call goes on that was held back: as a new one, too late for what should have come first, or not at all. */
type HeldBack = 'new' | 'late' | 'stopped'

/** A call that found no record of its own, while a record waits for a call that may still come. */
interface Held {
  readonly group: string
  goOn(how: HeldBack): void
}

/** Work under `once`. What its first part asks or waits for, it waits for itself. */
export interface Work {
  waits: boolean
}

/** What a node asked of us in a step: pauses, stored work, child graphs. */
export class Calls {
  /** Pauses reached that no record exists of yet. */
  readonly asks: Ask[] = []
  /** What the journal gets when the task pauses: waits that were over at once. */
  readonly notes: Entry[] = []
  readonly held: Held[] = []
  /** Child graphs under way, by the number of their call: they begin when what they wait for lets them. */
  readonly #children: Map<number, Level> = new Map()
  #called = 0
  /** Work under `once`, by place; the part of it that runs now; and what is on its way to the store. */
  readonly works: Map<string, Promise<Cell>> = new Map()
  inside: Work | undefined
  readonly storing: Set<string> = new Set()
  /** Places that were given out in this attempt. */
  readonly used: Set<string> = new Set()
  readonly #counts: Map<string, number> = new Map()

  /** Child graphs under way, in the order of their calls. */
  get children(): Level[] {
    return [...this.#children].sort(([a], [b]) => a - b).map(([, level]) => level)
  }

  /** Keeps the place of a child graph that is called; what comes back says that it is under way, or has ended. */
  child(): (level?: Level) => void {
    const n = this.#called++
    return (level) => void (level ? this.#children.set(n, level) : this.#children.delete(n))
  }

  /** The number of a call in its group, counted in the order of the calls. */
  count(group: string): number {
    const n = this.#counts.get(group) ?? 0
    this.#counts.set(group, n + 1)
    return n
  }

  /** Holds a call back. */
  holdBack(group: string, then: (how: HeldBack) => void): void {
    const held = {
      group,
      goOn: (how: HeldBack): void => {
        cancel()
        if (this.held.includes(held)) this.held.splice(this.held.indexOf(held), 1)
        then(how)
      },
    }
    const cancel = patience(() => held.goOn('late'))
    this.held.push(held)
  }

  /** No record waits any more: calls that were held back for its sake are new ones. */
  letGo(group: string): void {
    for (const held of [...this.held]) if (held.group === group) held.goOn('new')
  }

  /** Another attempt makes its calls from the first on. */
  again(): void {
    this.#counts.clear()
    this.used.clear()
    this.#children.clear()
    for (const place of this.works.keys()) if (!this.storing.has(place)) this.works.delete(place)
    this.asks.length = 0
  }
}
