// One seed, played: clients start and continue a thread, answer, tick, cancel, branch and read, while processes end,
// stand still and have wrong clocks; then all is calm, and the thread must get to where it would have got undisturbed.
import { compile, type CompiledGraph, type Logger, type RunRequest } from 'heddle'
import { readPause } from '../../src/durable/pause.ts'
import { decode } from '../../src/durable/codec.ts'
import { Book } from './book.ts'
import { answersOf } from './calm.ts'
import { Calls, FOLLOWING, type Call, type Reading } from './calls.ts'
import { ANY, answerTo, build, type Asked } from './graphs.ts'
import { Luck } from './luck.ts'
import { follow, readAll, THREAD } from './readers.ts'
import type { Case } from './shape.ts'
import type { Backing } from './stores.ts'
import type { Truth } from './truth.ts'
import { Client, type World } from './world.ts'

/** Longer than a lease lasts, and than a list may lag. */
const LONG = 61_000

interface Process {
  readonly client: Client
  readonly app: CompiledGraph
}

/** The clients of one thread, and what they do. */
export class Play {
  readonly calls: Calls
  readonly #world: World
  readonly #truth: Truth
  readonly #book: Book
  readonly #case: Case
  readonly #backing: Backing
  readonly #luck: Luck
  /** One process at a time. */
  readonly #single: boolean
  #processes: Process[] = []
  #made = 0
  /** Aborts when nobody follows any more. */
  #over = new AbortController()
  #deleting = false

  constructor(world: World, truth: Truth, theCase: Case, store: Backing, single: boolean) {
    this.#world = world
    this.#truth = truth
    this.#case = theCase
    this.#backing = store
    this.#single = single
    this.#luck = new Luck(world.options.seed, 3)
    this.#book = new Book(world, truth)
    this.calls = new Calls(world, () => !this.#deleting)
  }

  /** A new process. */
  spawn(name = `c${++this.#made}`): Process {
    const speed = this.#luck.pick([1, 1, 1, 0.15])
    const client = new Client(this.#world, name, this.#world.calm ? 1 : speed)
    const luck = new Luck(this.#world.options.seed, 100 + this.#processes.length + this.#made)
    let made = 0
    const failed = (_: string, data?: object): void => {
      const { error } = { ...data } as { readonly error?: Error }
      if (client.alive && error) this.calls.expected(client, error, `${name}, as its log says,`)
    }
    const logger: Logger = { debug() {}, warn: failed, error: failed }
    const { shape, durability, concurrency } = this.#case
    const app = compile(build(shape, this.#book, client), {
      store: this.#backing.open(client),
      clock: client.clock,
      random: luck.next,
      newId: (prefix) => `${prefix}${name}.${++made}`,
      logger,
      durability,
      concurrency,
    })
    const process = { client, app }
    this.#processes.push(process)
    return process
  }

  /** Plays from the first input to the last end; or, `interrupted`, into the middle of the last turn. */
  async play(expected: readonly string[], interrupted: boolean): Promise<void> {
    const { inputs } = this.#case
    if (!this.#single) while (this.#processes.length < this.#luck.between(1, 3)) this.spawn()
    for (let turn = 1; turn <= inputs; turn++) {
      this.#world.calm = false
      if (turn === 1 && !this.#single && this.#luck.chance(0.3)) await this.#race()
      await this.#storm(turn)
      if (interrupted && turn === inputs) return
      await this.#settle(turn)
      await this.#arrived(expected[turn - 1] as string)
      if (!this.#fine) return
    }
  }

  /** Deletes the thread, whoever is at it. */
  async remove(): Promise<void> {
    this.#world.calm = false
    this.#deleting = true
    this.#call(this.#any(), 'delete', ({ app }) => app.delete(THREAD))
    await this.#storm(this.#case.inputs)
    await this.#calm()
    for (let left = 10; left > 0 && this.#truth.head && this.#fine; left--) {
      this.#world.time += LONG
      const process = this.#fresh()
      const marked = this.#truth.head.status === 'deleted'
      await this.#finish(
        this.#call(process, 'delete at last', ({ app }) =>
          marked ? app.tick() : app.delete(THREAD),
        ),
      )
    }
    if (this.#truth.head && this.#fine) this.#world.violation('the thread is not deleted')
  }

  get #fine(): boolean {
    return this.#world.violations.length === 0
  }

  /** Several give the first input at once: one of them starts the thread. */
  async #race(): Promise<void> {
    const world = this.#world
    while (this.#processes.length < 3) this.spawn()
    const running = this.#processes.map((process) => {
      const controller = new AbortController()
      const { signal } = controller
      return { process, controller, call: this.#run(process, { input: { turn: 1 }, signal }) }
    })
    world.gentle = true
    while (running.some(({ call }) => !call.over) && this.#fine) {
      if (!(await world.turn())) break
      // Whoever has not looked yet would find a thread that may have ended, and add a turn.
      const owner = this.#truth.head?.owner
      if (owner === undefined) continue
      for (const { process, controller } of running)
        if (!owner.startsWith(`own_${process.client.name}.`)) controller.abort()
      break
    }
    while (running.some(({ call, controller }) => !call.over && controller.signal.aborted))
      if (!(await world.turn())) break
    world.gentle = false
  }

  /** Everything that may go wrong does, by chance. */
  async #storm(turn: number): Promise<void> {
    const world = this.#world
    const end = world.turns + this.#luck.between(20, 130)
    while (world.turns < end && this.#fine) {
      this.#mishap()
      const quiet = this.calls.busy.length === 0
      if (quiet && this.#reached(turn) && this.#luck.chance(0.5)) return
      if (quiet || this.#luck.chance(0.05)) await this.#act(turn)
      if (await world.turn()) continue
      const stuck = this.calls.active.filter(({ client }) => !client.frozen)
      for (const { client, what } of stuck) {
        world.violation(`${client.name} waits for ever: ${what}`)
        return
      }
      this.#thaw()
    }
  }

  #reached(turn: number): boolean {
    const { head, inputs } = this.#truth
    return this.#deleting ? !head : inputs >= turn && head?.status === 'success'
  }

  /** One thing of all that can go wrong between two turns. */
  #mishap(): void {
    const world = this.#world
    const { fate } = world
    const living = this.#processes.filter(({ client }) => client.alive)
    const frozen = living.filter(({ client }) => client.frozen)
    if (frozen.length > 0 && fate.chance(0.02)) this.#thaw()
    if (living.length === 0) return
    const { client } = fate.pick(living)
    if (world.strikes('kill', 0.002)) world.kill(client, () => fate.chance(0.5))
    else if (world.strikes('freeze', 0.01)) {
      client.frozen = fate.chance(0.5) ? 'sent' : 'held'
      world.note(`${client.name} stands still: ${client.frozen}`)
    } else if (world.strikes('clock', 0.003)) {
      client.skew += fate.pick([-3_600_000, -LONG, -900, 900, LONG, 3_600_000])
      world.note(`${client.name}'s clock is wrong by ${client.skew}`)
    } else if (world.strikes('time', 0.005)) {
      world.time += fate.pick([1000, 30_000, LONG, LONG])
      world.note('time goes on')
    }
  }

  #thaw(): void {
    const frozen = this.#processes.filter(({ client }) => client.frozen)
    const one = frozen[0]
    if (!one) return
    one.client.frozen = undefined
    this.#world.note(`${one.client.name} goes on`)
  }

  /** One that may begin something; a new one if there is none. */
  #any(): Process {
    const free = this.#processes.filter(({ client }) => client.alive && !client.frozen)
    const living = this.#processes.filter(({ client }) => client.alive)
    const more = this.#single ? living.length === 0 : living.length < 3 && this.#luck.chance(0.3)
    if (free.length > 0 && !more) return this.#luck.pick(free)
    if (this.#single && living.length > 0) {
      this.#thaw()
      return living[0] as Process
    }
    return this.spawn()
  }

  /** Somebody does something. */
  async #act(turn: number): Promise<void> {
    const { head, inputs } = this.#truth
    const world = this.#world
    const luck = this.#luck
    if (this.#single && !this.#processes.some(({ client }) => client.alive)) {
      // The next writer comes when nothing of the last one is under way, and everybody can see it.
      while (world.waits() && (await world.turn()));
      world.time += 2 * LONG
    }
    if (inputs < turn && !this.#deleting) {
      // Nobody may give an input twice: what is under way could still be one.
      if (this.calls.busy.length > 0 || world.waits()) return
      if (this.#processes.some(({ client }) => client.frozen)) return
      const input = { input: { turn } }
      return void this.#run(this.#any(), input)
    }
    if (this.calls.busy.length > 3) return
    const process = this.#any()
    const open = head?.open ?? []
    const kind = luck.weighed({
      answer: open.length > 0 ? 8 : 0.3,
      stale: 0.5,
      bad: open.length > 0 ? 0.4 : 0,
      bare: open.length > 0 ? 0.8 : 0.2,
      wait: open.some(({ due }) => due) ? 4 : 0,
      tick: 2,
      goOn: /^(error|cancelled|starting)$/.test(head?.owner ? '' : `${head?.status}`) ? 6 : 0.7,
      cancel: 0.4,
      branch: this.#deleting ? 0 : 0.3,
      fork: this.#deleting ? 0 : 0.2,
      subscribe: this.calls.busy.length < this.calls.active.length ? 0 : 0.15,
      read: 0.5,
      delete: this.#deleting ? 1 : 0,
    })
    if (kind === 'answer' || kind === 'bad') {
      const ids = open.length > 0 ? luck.some(open).map(({ id }) => id) : ['int_0']
      const answers = Object.fromEntries(
        ids.map((id) => [id, kind === 'bad' ? 0 : this.#answer(id)]),
      )
      // What is not bound to a schema would take any answer.
      if (kind === 'bad' && !ids.every((id) => this.#strict(id))) return
      this.#run(process, { answers })
    } else if (kind === 'stale') {
      const known = [...this.#truth.rows.keys()].filter((key) => /\/i\/[^/]+\.a$/.test(key))
      const id = known.length > 0 ? luck.pick(known).split('/').at(-1)?.slice(0, -2) : 'int_0'
      this.#run(process, { answers: { [id as string]: this.#answer(id as string) } })
    } else if (kind === 'bare') {
      this.#run(process, { answer: ANY })
    } else if (kind === 'wait') {
      const due = Math.min(...open.map((pause) => pause.due ?? Infinity))
      if (luck.chance(0.5)) world.time = Math.max(world.time, due - process.client.skew)
      this.#call(process, 'tick', ({ app }) => app.tick())
    } else if (kind === 'tick') this.#call(process, 'tick', ({ app }) => app.tick())
    else if (kind === 'goOn') this.#run(process, {})
    else if (kind === 'cancel') this.#call(process, 'cancel', ({ app }) => app.cancel(THREAD, 'so'))
    else if (kind === 'branch') {
      const past = this.#truth.turn()
      if (past.length > 0) this.#run(process, { from: luck.pick(past).id })
    } else if (kind === 'fork') {
      const past = this.#truth.turn()
      const from = past.length > 0 ? luck.pick(past).id : ''
      if (from) this.#call(process, `fork ${from}`, ({ app }) => app.fork(THREAD, { from }))
    } else if (kind === 'subscribe')
      this.#call(process, FOLLOWING, ({ app }) =>
        follow(world, app, luck.between(1, 40), this.#over.signal),
      )
    else if (kind === 'delete') this.#call(process, 'delete', ({ app }) => app.delete(THREAD))
    else this.#call(process, 'read', ({ app }) => readAll(world, app))
  }

  #answer(id: string): unknown {
    const text = this.#truth.text(`${this.#truth.root}i/${id}`)
    if (text === undefined) return 0
    const payload = decode(readPause(text).payload) as Asked | undefined
    return payload?.q === undefined ? 'early' : answerTo(payload)
  }

  /** Whether a bad answer to it is found out. */
  #strict(id: string): boolean {
    const text = this.#truth.text(`${this.#truth.root}i/${id}`)
    const asked = text === undefined ? undefined : (decode(readPause(text).payload) as Asked)
    return asked !== undefined && this.#book.strict.has(asked.q)
  }

  #call(process: Process, what: string, work: (process: Process) => Promise<unknown>): Call {
    return this.calls.start(process.client, what, () => work(process))
  }

  #run(process: Process, request: object): Call {
    const reading = this.#luck.weighed<Reading>({
      run: 3,
      read: 5,
      slow: 1,
      leave: 0.3,
      detach: 0.4,
      abort: 0.3,
    })
    const { signal, ...shown } = request as { readonly signal?: AbortSignal }
    return this.#call(process, `run ${JSON.stringify(shown)} (${reading})`, ({ client, app }) =>
      this.calls.run(client, app, { thread: THREAD, ...request } as RunRequest, reading),
    )
  }

  /** Everything goes on, and nothing goes wrong any more. */
  async #calm(): Promise<void> {
    const world = this.#world
    world.calm = true
    this.#over.abort()
    this.#over = new AbortController()
    for (const { client } of this.#processes) client.frozen = undefined
    while (this.#fine && (await world.turn()));
    for (const { client, what } of this.calls.active)
      world.violation(`${client.name} waits for ever: ${what}`)
  }

  /** A process that has nothing to do with what was; or, after it, the same one again. */
  #fresh(): Process {
    const [only, ...more] = this.#processes
    const calm = only?.client.alive && only.client.name.startsWith('calm')
    if (calm && more.length === 0 && this.#luck.chance(0.7)) return only
    for (const { client } of this.#processes) if (client.alive) this.#world.kill(client, () => true)
    this.#processes = []
    return this.spawn(`calm${++this.#made}`)
  }

  async #finish(call: Call): Promise<void> {
    while (!call.over && this.#fine) if (!(await this.#world.turn())) break
    if (!call.over) this.#world.violation(`${call.what} never settles`)
  }

  /** One process brings the thread to its end: the clock wakes and recovers, questions are answered, failures are gone on from. */
  async #settle(turn: number): Promise<void> {
    await this.#calm()
    const world = this.#world
    for (let left = 150; left > 0 && this.#fine; left--) {
      const { head, inputs } = this.#truth
      if (inputs >= turn && head?.status === 'success') return
      const process = this.#fresh()
      // Leases end, and lists show what has been written.
      world.time = Math.max(world.time + 2 * LONG, head?.owner ? head.until : 0)
      const due = head?.open.flatMap((one) => one.due ?? []) ?? []
      if (inputs < turn) await this.#finish(this.#run(process, { input: { turn } }))
      else if (head?.status === 'interrupted' && !head.owner) {
        await this.#finish(
          this.#call(process, 'answer all', async ({ app }) => {
            const open = await app.interruptions()
            if (open.length === 0 && due.length > 0) {
              world.time = Math.max(world.time, ...due)
              return app.tick()
            }
            return app.run({ thread: THREAD, answers: answersOf(open) })
          }),
        )
      } else if (head?.status === 'waiting' || head?.owner) {
        world.time = Math.max(world.time, ...due)
        await this.#finish(this.#call(process, 'tick', ({ app }) => app.tick()))
      } else await this.#finish(this.#run(process, {}))
    }
    if (this.#fine) world.violation(`the thread never ends: ${JSON.stringify(this.#truth.head)}`)
  }

  /** The state is what it would have been. */
  async #arrived(expected: string): Promise<void> {
    if (!this.#fine) return
    this.#world.time += 2 * LONG
    const process = this.#fresh()
    await this.#finish(
      this.#call(process, 'look', async ({ app }) => {
        const state = JSON.stringify((await app.state(THREAD))?.state)
        if (state !== expected) this.#world.violation(`the state is ${state}, not ${expected}`)
        await readAll(this.#world, app)
      }),
    )
  }
}
