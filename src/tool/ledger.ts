import { Meter, type Use } from '../engine/meter.ts'
import type { Clock } from '../lib/clock.ts'
import type { Decision } from './inside.ts'

/** How many runs, and how many threads, are remembered. */
const MOST = 1000

/** What outlives a call outside a thread: what was used, and what was decided for the rest of a thread. */
export interface Ledger {
  /** Begins a call of a run and a thread; without an id it counts with all others that have none. */
  begin(run: string | undefined, thread: string | undefined, kind?: 'tool' | 'model'): Use
  /** Decisions that stand, by tool. Without an id nothing stands. */
  standing(thread: string | undefined): Map<string, Decision> | undefined
}

/** Makes a ledger. It is kept in this process only, and of the last thousand runs and threads. */
export function ledger(clock: Clock): Ledger {
  const runs = latest(() => timed(clock))
  const threads = latest(() => timed(clock))
  const decided = latest(() => new Map<string, Decision>())
  return {
    begin(run, thread, kind = 'tool') {
      const both = [runs(run), threads(thread)] as const
      const uses = both.map((one) => one.begin(kind)) as [Use, Use]
      return {
        get used() {
          return { run: uses[0].used.run, thread: uses[1].used.thread }
        },
        end: (counts, reported) => uses.forEach((use) => use.end(counts, reported)),
      }
    },
    standing: (thread) => (thread === undefined ? undefined : decided(thread)),
  }
}

/** A meter that counts the time in which at least one call is under way. */
function timed(clock: Clock): { begin(kind: 'tool' | 'model'): Use } {
  let busy = 0
  let since = 0
  let before = 0
  const ran = (): number => before + (busy > 0 ? clock.now() - since : 0)
  const meter = new Meter({ used: undefined }, ran)
  return {
    begin(kind) {
      if (busy++ === 0) since = clock.now()
      const use = meter.begin(kind)
      let over = false
      return {
        get used() {
          return use.used
        },
        end(counts, reported) {
          use.end(counts, reported)
          if (over) return
          over = true
          before = ran()
          since = clock.now()
          busy--
        },
      }
    },
  }
}

/** Makes one thing per name, and forgets what was longest unused. */
function latest<Thing>(make: () => Thing): (name: string | undefined) => Thing {
  const things = new Map<string | undefined, Thing>()
  return (name) => {
    const thing = things.get(name) ?? make()
    things.delete(name)
    things.set(name, thing)
    if (things.size > MOST) things.delete(things.keys().next().value)
    return thing
  }
}
