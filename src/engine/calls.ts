import type { Cell } from '../durable/codec.ts'
import type { Entry } from '../durable/journal.ts'
import type { PauseRecord } from '../durable/pause.ts'
import type { JsonSchema } from '../schema.ts'
import type { Execution } from './execution.ts'
import type { Level } from './level.ts'
import { patience } from './place.ts'

/** A pause that a task has reached and no record exists of yet. */
export interface Ask {
  readonly calls: Calls
  readonly place: string
  readonly kind: PauseRecord['kind']
  readonly payload: Cell
  readonly key?: string | undefined
  readonly due?: number | undefined
  readonly schema?: JsonSchema | undefined
  /** Where it has to be known before it is asked. */
  readonly id?: string
}

/** How a call goes on that was held back: as a new one, too late for what should have come first, or not at all. */
type HeldBack = 'new' | 'late' | 'stopped'

/** A call that found no record of its own, while a record waits for a call that may still come. */
interface Held {
  readonly group: string
  goOn(how: HeldBack): void
}

/** Work of ours under way in a node: a part under `once`, or a tool. It waits with whatever waits inside it. */
export interface Work {
  waits: boolean
  /** The work that it is part of. */
  readonly outer: Work | undefined
}

/** How far calls are counted: by group, and which places are taken. */
export interface Counted {
  readonly counts: readonly (readonly [group: string, n: number])[]
  readonly used: readonly string[]
}

/** What a node, or a tool that it calls, asked of us: pauses, stored work, child graphs, tools. */
export class Calls implements Work {
  readonly execution: Execution
  /** What its entries in the journal are named after: the task, or the call of a tool. */
  readonly id: string
  /** The calls that this call of a tool is among; none for the node itself. */
  readonly up: Calls | undefined
  readonly outer: Work | undefined
  /** Where the call of this tool stands among those. */
  readonly place: string | undefined
  /** The agent that called this tool. */
  agent: string | undefined
  waits = false
  /** Counts the attempts of a tool; what an earlier one still calls does nothing. */
  #tries = 0
  #ended = false
  #controller: AbortController | undefined
  readonly #around: (() => boolean) | undefined
  /** Told when this first waits. */
  readonly #onWait: (() => void)[] = []
  /** Pauses reached that no record exists of yet. */
  readonly asks: Ask[] = []
  /** What the journal gets when the task pauses: waits that were over at once, tools that failed. */
  notes: Entry[] = []
  readonly held: Held[] = []
  /** Child graphs and tools under way, by the number of their call: they begin when what they wait for lets them. */
  readonly #inner: Map<number, Level | Calls> = new Map()
  #called = 0
  readonly #apart: Map<string, Calls> = new Map()
  /** Work under `once`, by place; the part of it that runs now; and what is on its way to the store. */
  readonly works: Map<string, Promise<Cell>> = new Map()
  inside: Work | undefined
  readonly storing: Set<string> = new Set()
  /** Places that were given out in this attempt. */
  readonly used: Set<string> = new Set()
  readonly #counts: Map<string, number> = new Map()

  /** @param tool The call of a tool that these are made by: what it is part of, and its place */
  constructor(
    execution: Execution,
    id: string,
    tool?: { readonly up: Calls; readonly outer: Work | undefined; readonly place: string },
  ) {
    this.execution = execution
    this.id = id
    this.up = tool?.up
    this.outer = tool?.outer
    this.place = tool?.place
    this.#around = tool?.up.life()
  }

  /**
   * Tells from now on whether what is called may still do something.
   *
   * @param attempt `one`: by this attempt of a tool; `all`: around its attempts
   */
  life(attempt: 'one' | 'all' = 'one'): () => boolean {
    const { execution } = this
    const { attempt: entered } = execution
    const around = this.#around ?? (() => execution.alive(entered))
    const tries = this.#tries
    return () => (attempt === 'all' ? !this.#ended : tries === this.#tries) && around()
  }

  /** The calls of hooks around this tool, apart from its own: what one of them asks or stores is no other's. */
  apart(name: string): Calls {
    const known = this.#apart.get(name)
    if (known) return known
    const place = `.${name}`
    const own = new Calls(this.execution, this.id + place, { up: this, outer: this, place })
    // It is no work of its own: the call waits.
    own.waits = true
    this.#apart.set(name, own)
    return own
  }

  /** The work that a call made now is part of. */
  get current(): Work | undefined {
    return this.inside ?? (this.up && this)
  }

  /** Ids from the thread's own task down to what made these calls. */
  chain(): string[] {
    const { execution, id, up } = this
    return up ? [...up.chain(), id] : execution.step.level.chain(id)
  }

  #sorted(): (Level | Calls)[] {
    const inner = [...this.#inner].sort(([a], [b]) => a - b).map(([, one]) => one)
    return [...this.#apart.values(), ...inner]
  }

  /** Child graphs under way, in the order of their calls. */
  get children(): Level[] {
    return this.#sorted().flatMap((inner) => (inner instanceof Calls ? inner.children : inner))
  }

  /** These calls and those of the tools under way. */
  get all(): Calls[] {
    return [this, ...this.#sorted().flatMap((inner) => (inner instanceof Calls ? inner.all : []))]
  }

  /** Keeps the place of a child graph or tool that is called; what comes back says that it is under way, or has ended. */
  call(): (inner?: Level | Calls) => void {
    const n = this.#called++
    return (inner) => void (inner ? this.#inner.set(n, inner) : this.#inner.delete(n))
  }

  /** The number of a call in its group, counted in the order of the calls. */
  count(group: string): number {
    const n = this.#counts.get(group) ?? 0
    this.#counts.set(group, n + 1)
    return n
  }

  /**
   * Makes the task wait once nothing of ours is under way in it, and its caller for ever: no `catch` can see a pause.
   *
   * @param ask What is to be recorded, unless it is
   * @param work The work that waits with it
   */
  pause(ask?: Ask, work: Work | undefined = this.current): Promise<never> {
    for (let one = work; one; one = one.outer) {
      if (one.waits) continue
      one.waits = true
      this.execution.busy--
      if (one instanceof Calls) for (const call of one.#onWait) call()
    }
    if (ask) {
      this.used.add(ask.place)
      this.asks.push(ask)
    }
    this.execution.pausing = true
    this.execution.quiet()
    return new Promise(() => {})
  }

  /** Holds a call back. */
  holdBack(group: string, then: (how: HeldBack) => void): void {
    const held: Held = {
      group,
      goOn: (how) => {
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

  /** Calls back when this first waits, and can't go on in this process. */
  onWait(call: () => void): void {
    this.#onWait.push(call)
  }

  /** Aborts when the call of a tool must stop. One for each: many calls would be many listeners of their node's. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  /** Stops the tools and child graphs inside. */
  halt(reason: unknown): void {
    for (const calls of this.all) calls.#controller?.abort(reason)
    for (const child of this.children) child.step?.stop(reason)
  }

  /** An attempt is over, or all is: nothing that is under way in here counts any more. */
  over(attempt: 'one' | 'all' = 'all', reason?: unknown): void {
    this.#tries++
    this.#ended = attempt === 'all'
    if (this.#inner.size > 0) {
      const why = reason ?? new DOMException('The tool that called it has ended', 'AbortError')
      for (const inner of this.#sorted())
        if (inner instanceof Calls) inner.halt(why)
        else inner.step?.stop(why)
    }
    for (const { held } of this.all) for (const one of held.splice(0)) one.goOn('stopped')
  }

  /** How far its calls are counted. */
  get counted(): Counted {
    return { counts: [...this.#counts], used: [...this.used] }
  }

  /** Another attempt makes its calls anew, from the first on or from where it was `counted`. What failed is tried again. */
  again({ counts, used }: Counted = { counts: [], used: [] }): void {
    this.#counts.clear()
    this.used.clear()
    for (const [group, n] of counts) this.#counts.set(group, n)
    for (const place of used) this.used.add(place)
    this.#inner.clear()
    for (const place of this.works.keys()) if (!this.storing.has(place)) this.works.delete(place)
    const known = this.execution.step.level.run.journal.of(this.id)?.places
    this.notes = this.notes.filter(
      (note) => note.kind !== 'call' || known?.get(note.place) === note,
    )
    this.asks.length = 0
  }
}
