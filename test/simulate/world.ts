// The heart of the simulator: nothing goes on by itself. Store operations, timers, and the bodies of nodes wait here, and
// the world lets one after the other go on, in an order that the seed decides, whenever everything else stands still.
import type { Clock } from 'heddle'
import { Luck } from './luck.ts'

/** Something that waits to go on. Without a client it happens whoever lives. */
interface Parked {
  readonly client: Client | undefined
  readonly label: string
  readonly go: () => void
  /** On its way to the store: it may land though its sender stands still, or is gone. */
  readonly sent: boolean
}

interface Timer extends Parked {
  readonly due: number
}

/** A process: it has a name, a clock that may be wrong, and a life that may end at any moment. */
export class Client {
  readonly name: string
  readonly clock: Clock
  alive = true
  /** Stands still. `sent`: what it had sent lands meanwhile; `held`: it lands when the client goes on. */
  frozen: 'sent' | 'held' | undefined
  /** How wrong its clock is, and the latest time that the clock has ever told. */
  skew = 0
  latest = -Infinity
  /** How often it is let go on, beside others. */
  readonly speed: number
  /** Operations of it, replies that it has lost, and at which operation the last. */
  operations = 0
  losses = 0
  lastLoss = -Infinity
  /** Commits of it that were applied. */
  applied = 0

  constructor(world: World, name: string, speed: number) {
    this.name = name
    this.speed = speed
    this.clock = {
      now: () => {
        const now = world.time + this.skew
        this.latest = Math.max(this.latest, now)
        return now
      },
      after: (ms, call) => world.timer(this, 'timer', ms, call),
    }
  }
}

/** What can go wrong, by name: a run may leave some out, to find the smallest that fails. */
export type Mishap = 'kill' | 'freeze' | 'lose' | 'clock' | 'time' | 'move'

export interface WorldOptions {
  readonly seed: number
  /** How many mishaps happen at most. @default Infinity */
  readonly mishaps?: number
  readonly without?: readonly Mishap[]
  /** Keeps what happened as text. */
  readonly traced?: boolean
}

export const START = Date.UTC(2026, 2, 1)

/** Lets waiting things go on, one by one. Time is its own: it goes on a little with each, and at once when all wait for it. */
export class World {
  /** Milliseconds since 1970; never goes back. What clients read may differ. */
  time = START
  readonly luck: Luck
  readonly fate: Luck
  readonly options: WorldOptions
  /** Lines, if they are kept; and their digest: the same for the same seed. */
  readonly trace: string[] = []
  digest = 0x811c9dc5
  /** What was let go on, and what went wrong on purpose, so far. */
  turns = 0
  mishaps = 0
  readonly violations: string[] = []
  /** Nothing goes wrong; and nothing waits that needn't either. */
  gentle = false
  calm = false
  #parked: Parked[] = []
  #timers: Timer[] = []

  constructor(options: WorldOptions) {
    this.options = options
    this.luck = new Luck(options.seed, 1)
    this.fate = new Luck(options.seed, 2)
  }

  /** Writes a line of the trace. */
  note(line: string): void {
    if (this.options.traced) this.trace.push(`${this.time - START} ${line}`)
    this.stamp(line)
  }

  /** Makes the digest tell this apart, too. */
  stamp(line: string): void {
    let { digest } = this
    for (let i = 0; i < line.length; i++)
      digest = Math.imul(digest ^ line.charCodeAt(i), 0x01000193) | 0
    this.digest = digest
  }

  /** Says that something must never have happened. */
  violation(what: string): void {
    this.note(`VIOLATION ${what}`)
    if (this.violations.length < 20) this.violations.push(what)
  }

  /** Whether something goes wrong now, of all that could. */
  strikes(kind: Mishap, share: number): boolean {
    const { mishaps = Infinity, without = [] } = this.options
    if (this.calm || this.gentle || !this.fate.chance(share)) return false
    if (this.mishaps >= mishaps || without.includes(kind)) return false
    this.mishaps++
    return true
  }

  /** Goes on when its turn has come; never, if the client is gone by then. */
  park(client: Client | undefined, label: string, go: () => void, sent = false): void {
    if (client?.alive === false) return
    this.#parked.push({ client, label, go, sent })
  }

  /** The same as a promise. */
  pass(client: Client | undefined, label: string): Promise<void> {
    return new Promise((resolve) => this.park(client, label, resolve))
  }

  /** Calls back once, when so much time has passed; returns how to cancel it. */
  timer(client: Client | undefined, label: string, ms: number, call: () => void): () => void {
    const timer = { client, label, due: this.time + Math.max(0, ms), go: call, sent: false }
    this.#timers.push(timer)
    return () => {
      const at = this.#timers.indexOf(timer)
      if (at >= 0) this.#timers.splice(at, 1)
    }
  }

  /** Ends a process: what it was about to do never happens, save what it had sent and `lands`. */
  kill(client: Client, lands: (label: string) => boolean): void {
    client.alive = false
    client.frozen = undefined
    this.#timers = this.#timers.filter((timer) => timer.client !== client)
    this.#parked = this.#parked.flatMap((one) => {
      if (one.client !== client) return one
      return one.sent && lands(one.label) ? { ...one, client: undefined } : []
    })
    this.note(`kill ${client.name}`)
  }

  /** Whether anything of a client, or of nobody, still waits. */
  waits(client?: Client): boolean {
    return [...this.#parked, ...this.#timers].some((one) => one.client === client)
  }

  /** Lets one thing go on, after everything else has come to a stand. False if nothing can. */
  async turn(): Promise<boolean> {
    await stand()
    const ready = this.#parked.filter(canGo)
    for (const timer of this.#timers) if (timer.due <= this.time && canGo(timer)) ready.push(timer)
    if (ready.length === 0) {
      let next: Timer | undefined
      for (const timer of this.#timers)
        if (canGo(timer) && (!next || timer.due < next.due)) next = timer
      if (!next) return false
      this.time = next.due
      ready.push(next)
    }
    const one = this.#chosen(ready)
    const from: Parked[] = 'due' in one ? this.#timers : this.#parked
    from.splice(from.indexOf(one), 1)
    this.turns++
    this.note(`${one.client?.name ?? '-'} ${one.label}`)
    const { luck } = this
    this.time += luck.chance(0.9)
      ? luck.below(3)
      : luck.chance(0.8)
        ? luck.below(50)
        : luck.below(500)
    one.go()
    return true
  }

  #chosen(ready: readonly Parked[]): Parked {
    let left = 0
    for (const { client } of ready) left += client?.speed ?? 0.5
    left *= this.luck.next()
    for (const one of ready) {
      left -= one.client?.speed ?? 0.5
      if (left < 0) return one
    }
    return ready.at(-1) as Parked
  }
}

const canGo = ({ client, sent }: Parked): boolean =>
  !client?.frozen || (sent && client.frozen === 'sent')

/** Everything in here goes on by promises alone, so that after a turn of the event loop all of it waits. */
const stand = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
