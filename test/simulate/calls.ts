import { isHeddleError, type CompiledGraph, type LiveRun, type RunRequest } from 'heddle'
import { Network } from './stores.ts'
import type { Client, World } from './world.ts'

/** Refusals: they come before anything has changed. */
const REFUSALS = new Set([
  'thread_busy',
  'resume_conflict',
  'thread_paused',
  'ambiguous_resume',
  'unknown_interruption',
  'nothing_to_resume',
  'unknown_checkpoint',
])

/** How a run may fail beside these. */
const FAILURES = new Set(['cancelled', 'lease_lost', 'schema_error', 'recovery_limit_exceeded'])

/** One request of a client, until it is settled or its process is gone. */
export interface Call {
  readonly client: Client
  readonly what: string
  over: boolean
  /** Nothing else of its process went on meanwhile, so that what was stored is its doing. */
  alone: boolean
}

/** What a call is named that reads for as long as anybody tells something. */
export const FOLLOWING = 'subscribe'

/** How a reader treats a stream. */
export type Reading = 'run' | 'read' | 'slow' | 'leave' | 'detach' | 'abort'

/** Requests under way, and what is true of every one of them. */
export class Calls {
  readonly #world: World
  readonly #stays: () => boolean
  readonly #active = new Set<Call>()
  /** Numbers of events, and who told them. */
  readonly #told = new Map<number, string>()

  /** @param stays Whether nobody deletes the thread: whoever finds one half deleted finishes that, and is refused then */
  constructor(world: World, stays: () => boolean) {
    this.#world = world
    this.#stays = stays
  }

  /** Those that may still be settled. */
  get active(): Call[] {
    for (const call of this.#active) if (!call.client.alive) this.#active.delete(call)
    return [...this.#active]
  }

  /** Those that change something, or wait to. */
  get busy(): Call[] {
    return this.active.filter(({ what }) => what !== FOLLOWING)
  }

  of(client: Client): Call[] {
    return this.active.filter((call) => call.client === client)
  }

  /** Begins one. It must settle, and what it rejects with must be something that can happen. */
  start(client: Client, what: string, work: () => Promise<unknown>): Call {
    const world = this.#world
    const beside = this.of(client)
    const call: Call = {
      client,
      what,
      over: false,
      alone: beside.length === 0 && !world.waits(client) && !world.waits(),
    }
    for (const other of beside) other.alone = false
    const { applied } = client
    this.#active.add(call)
    world.note(`${client.name} begins ${what}`)
    const over = (how: string): void => {
      call.over = true
      this.#active.delete(call)
      if (client.alive) world.note(`${client.name} ends ${what}: ${how}`)
    }
    work().then(
      () => over('done'),
      (error: unknown) => {
        over(String((error as Error)?.message ?? error))
        if (!client.alive) return
        this.expected(client, error, what)
        const changed = call.alone && this.#stays() && client.applied !== applied
        if (changed && isHeddleError(error) && REFUSALS.has(error.code))
          world.violation(`${what} was refused (${error.code}) and changed something`)
      },
    )
    return call
  }

  /** Holds an error to what may go wrong. */
  expected(client: Client, error: unknown, what: string): void {
    const { name, message } = error as Error
    const known = isHeddleError(error)
      ? REFUSALS.has(error.code) ||
        FAILURES.has(error.code) ||
        // Its rows go while it runs.
        (error.code === 'corrupt_checkpoint' && !this.#stays())
      : ['Flaky', 'Network', 'TimeoutError', 'AbortError', 'Left'].includes(name) ||
        // What Workers KV says when it has no better answer.
        /429 Too Many Requests|moved out of sight/.test(message)
    const one = error instanceof Network && error.known && error.losses === client.losses
    if (one) this.#world.violation(`${what} failed for one lost reply: ${message}`)
    if (!known)
      this.#world.violation(`${what} failed: ${name}: ${message}\n${(error as Error).stack ?? ''}`)
  }

  /** Runs, and reads what is told. */
  async run(
    client: Client,
    app: CompiledGraph,
    request: RunRequest,
    reading: Reading,
  ): Promise<unknown> {
    if (reading === 'run') return app.run(request)
    const live: LiveRun = app.stream(request)
    let left = this.#world.luck.between(1, 8)
    let last: number | undefined
    if (reading === 'detach') {
      live.detach()
      return live.outcome
    }
    for await (const { seq, kind } of live) {
      if (!client.alive) return new Promise(() => {})
      const teller = `${client.name} ${kind}`
      this.#world.note(`${teller} is event ${seq}`)
      const before = this.#told.get(seq)
      if (before) this.#world.violation(`seq ${seq} is told by ${before} and by ${teller}`)
      if (last !== undefined && seq !== last + 1)
        this.#world.violation(`${teller} has seq ${seq} after ${last}`)
      this.#told.set(seq, teller)
      last = seq
      if (reading === 'slow') await this.#world.pass(client, 'reader')
      if (left-- > 0) continue
      if (reading === 'leave') break
      if (reading === 'abort') live.abort(Object.assign(new Error('left'), { name: 'Left' }))
    }
    return live.outcome
  }
}
