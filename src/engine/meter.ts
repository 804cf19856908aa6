import type { Head } from '../durable/head.ts'
import { tidy } from '../lib/tidy.ts'
import type { Tally } from '../tool/inside.ts'
import { addUsage, countIn, usageOf, type TokenUsage } from '../usage.ts'
import type { Run } from './run.ts'

/** What was used by a run since the last input, whatever resumed runs that took, and by its thread in all. */
export interface Tallies {
  readonly run: Tally
  readonly thread: Tally
}

/** A call under way, as the meter knows it. */
export interface Use {
  /** What was used before it: what has ended and counts, and what was begun before it and hasn't ended. */
  readonly used: Tallies
  /**
   * Ends it, however often it is called. A call that counts is counted by the next commit: call this in the same turn as
   * the commit that stores what came of it. One that was refused or denied doesn't count, unless its model reported
   * something all the same. One that waits hasn't ended: it keeps its place among the calls of the run.
   *
   * @param usage What its model reported in the end, with its cost and how many requests it took. A figure that nobody
   * reported is absent, and doesn't count
   */
  end(counts: boolean, usage?: TokenUsage): void
}

type Kind = 'tool' | 'model'

interface UnderWay {
  readonly kind: Kind
  held(): boolean
  /** Calls that began after it, have ended and are counted. */
  readonly overtaken: Record<Kind, number>
}

/** Where the head counts calls, and from where on what models report. */
const CALLS = { tool: 0, model: 1 } as const
const REPORTED = 3

/** What of a head is counted here. */
type Counted = Pick<Head, 'used' | 'usage'>

/** What models reported to a thread in all. */
export const usageOfThread = ({ used }: Counted): TokenUsage => usageOf(used?.[1], REPORTED)

/**
 * Counts calls, what models report, and the time that a thread runs, in the head of its thread: durable with whatever is
 * committed next. What is under way is known here only, as it begins again after a pause or a crash.
 */
export class Meter {
  readonly #head: Counted
  readonly #ran: () => number
  /** In the order in which they began. */
  readonly #underWay: Set<UnderWay> = new Set()

  /**
   * @param head Keeps the counts
   * @param ran Milliseconds of running that the head doesn't count yet
   */
  constructor(head: Counted, ran: () => number) {
    this.#head = head
    this.#ran = ran
  }

  /** What models reported to this run by now. */
  get usage(): TokenUsage {
    return usageOf(this.#head.usage)
  }

  /** What was used by now. Whoever has looked has the time counted from then on. */
  get used(): Tallies {
    return this.#before()
  }

  /**
   * Begins a call, in the order of the calls.
   *
   * @param held Whether it may still go on, or waits: not once what has called it is tried again
   */
  begin(kind: Kind, held: () => boolean = () => true): Use {
    const own: UnderWay = { kind, held, overtaken: { tool: 0, model: 0 } }
    this.#underWay.add(own)
    const before = (): Tallies => this.#before(own)
    return {
      get used() {
        return before()
      },
      end: (counts, usage = {}) => {
        if (!this.#underWay.has(own)) return
        if (counts) for (const one of this.#ahead(own)) one.overtaken[kind]++
        this.#underWay.delete(own)
        if (counts) for (const used of this.#counts) used[CALLS[kind]]++
        const reported = addUsage({}, usage)
        if (Object.keys(reported).length === 0) return
        for (const used of this.#counts) countIn(used, reported, REPORTED)
        countIn((this.#head.usage ??= []), reported)
      },
    }
  }

  get #counts(): NonNullable<Head['used']> {
    return (this.#head.used ??= [
      [0, 0, 0],
      [0, 0, 0],
    ])
  }

  /** What is under way and began before a call. */
  #ahead(call?: UnderWay): UnderWay[] {
    const all = [...this.#underWay]
    const at = call ? all.indexOf(call) : -1
    return at < 0 ? all : all.slice(0, at)
  }

  #before(call?: UnderWay): Tallies {
    const begun = { tool: 0, model: 0 }
    for (const one of this.#ahead(call)) if (one.held()) begun[one.kind]++
    for (const kind of ['tool', 'model'] as const) begun[kind] -= call?.overtaken[kind] ?? 0
    const ran = this.#ran()
    const [run, thread] = this.#counts.map(([tools, models, ms, tokens, cost]) =>
      tidy<Tally>({
        toolCalls: tools + begun.tool,
        modelCalls: models + begun.model,
        tokens: tokens ?? undefined,
        cost: cost ?? undefined,
        ms: ms + ran,
      }),
    ) as [Tally, Tally]
    return { run, thread }
  }
}

/** The meter of a run. */
export const meterOf = (run: Run): Meter =>
  (run.meter ??= new Meter(run.claim.head, () => run.claim.ran()))
