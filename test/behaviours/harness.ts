// What the tests of behaviours share: a story told in process and again with everything rebuilt from the store, and
// books that must be empty after every test. Read `eachWay` and `Story` first; call `keepBooks()` at the top of a file.
import {
  compile,
  isHeddleError,
  memory,
  type CompileOptions,
  type CompiledGraph,
  type Entry,
  type Graph,
  type Interruption,
  type Outcome,
  type RunRequest,
  type Snapshot,
  type Store,
  type StreamEvent,
} from 'heddle'
import { expect, test } from 'vitest'
import { countedSignal, countingClock } from './books.ts'
import { silent } from '../fakes/silent.ts'

export { countedSignal, countingClock, keepBooks } from './books.ts'
export { after, mulberry32, SEEDS, shuffled, times, unevenStore } from './luck.ts'

export type Way = 'in process' | 'rebuilt from the store' | 'rebuilt, stored at pauses only'
type State = Readonly<Record<string, unknown>>
type Options = CompileOptions & { readonly thread?: string }

/** Opens a story on a graph. `make` builds it anew: what a test counts must live outside. */
export type Open = (make: () => Graph, options?: Options) => Story

/** Tells a scenario twice: with one app, and with a new graph and a new app for every request and every look. */
export function eachWay(name: string, tell: (open: Open, way: Way) => Promise<void>): void {
  inWays(['in process', 'rebuilt from the store'], name, tell)
}

/** The same, and once more with steps that are stored only when the run pauses or ends. */
export function everyWay(name: string, tell: (open: Open, way: Way) => Promise<void>): void {
  inWays(['in process', 'rebuilt from the store', 'rebuilt, stored at pauses only'], name, tell)
}

function inWays(
  ways: readonly Way[],
  name: string,
  tell: (open: Open, way: Way) => Promise<void>,
): void {
  for (const way of ways)
    test(`${name} (${way})`, () => tell((make, options) => new Story(make, way, options), way))
}

/** What came of one request that wasn't rejected. */
export interface Pass {
  readonly status: Outcome['status']
  readonly state: State
  readonly open: readonly Interruption[]
  readonly timers: readonly { readonly id: string; readonly wakeAt: string }[]
  readonly events: readonly StreamEvent[]
  readonly outcome: Outcome<State>
}

/**
 * One thread, request by request. Every pass is also held to what is true of all: `seq` rises by one, `done` is last and
 * only there on success, a pause ends the stream with its last question or timer, no question is told twice, what the
 * outcome says is what is stored, and neither a listener nor a timer is left.
 */
export class Story {
  readonly thread: string
  readonly store: Store
  /** Events of every pass, failed ones included. */
  readonly passes: StreamEvent[][] = []
  readonly #make: () => Graph
  readonly #way: Way
  readonly #options: CompileOptions
  readonly #told = new Set<string>()
  #app: CompiledGraph | undefined
  #seq: number | undefined

  constructor(make: () => Graph, way: Way, { thread = 't1', ...options }: Options = {}) {
    this.thread = thread
    this.store = options.store ?? memory()
    const durability = way === 'rebuilt, stored at pauses only' ? 'exit' : 'step'
    const common = { clock: countingClock(), logger: silent, durability } as const
    this.#options = { ...common, ...options, store: this.store }
    this.#make = make
    this.#way = way
  }

  /** The app of this moment; a new one at every look when everything is rebuilt. */
  get app(): CompiledGraph {
    if (this.#way !== 'in process') this.#app = undefined
    return (this.#app ??= compile(this.#make(), this.#options))
  }

  start(input: unknown = {}, more: object = {}): Promise<Pass> {
    return this.pass({ input, ...more })
  }
  /** Answers by id. */
  answer(answers: { readonly [id: string]: unknown }, more: object = {}): Promise<Pass> {
    return this.pass({ answers, ...more })
  }
  /** Answers the one open question. */
  answerOne(answer: unknown, more: object = {}): Promise<Pass> {
    return this.pass({ answer, ...more })
  }
  /** Goes on without an input or an answer. */
  goOn(more: object = {}): Promise<Pass> {
    return this.pass(more)
  }

  async pass(request: object): Promise<Pass> {
    const { app, thread } = this
    const caller = countedSignal()
    const events: StreamEvent[] = []
    this.passes.push(events)
    const live = app.stream({ thread, signal: caller.signal, ...request } as RunRequest)
    try {
      for await (const event of live) events.push(event)
    } catch (error) {
      expect(await live.outcome.catch((reason: unknown) => reason)).toBe(error)
      this.#check(events)
      expect(events.filter(({ kind }) => kind === 'done')).toEqual([])
      if (!isHeddleError(error) && (error as Error)?.name === 'Crash') this.#seq = undefined
      throw error
    } finally {
      expect(caller.listeners()).toBe(0)
    }
    this.#check(events)
    return this.#passOf(await live.outcome, events)
  }

  /** Expects a refusal with this code: no event, and no row of the store changed. */
  async refuses(request: object, code: string): Promise<Error> {
    const before = await this.rows()
    const count = this.passes.length
    const error = await failure(this.pass(request))
    expect(error).toMatchObject({ code })
    expect(this.passes[count]).toEqual([])
    expect(await this.rows()).toEqual(before)
    return error
  }

  /** Questions that are open now. */
  open(): Promise<readonly Interruption[]> {
    return this.app.interruptions({ thread: this.thread })
  }
  /** Checkpoints, newest first. */
  history(): Promise<Snapshot[]> {
    return all(this.app.history(this.thread))
  }
  async snapshot(checkpoint?: string): Promise<Snapshot<State>> {
    const found = await this.app.state(this.thread, checkpoint === undefined ? {} : { checkpoint })
    expect(found).toBeDefined()
    return found as Snapshot
  }
  /** Every row of the store, revisions included. */
  async rows(): Promise<readonly Entry[]> {
    return rowsOf(this.store)
  }
  /** All events of a kind so far, over all passes. */
  events<Kind extends StreamEvent['kind']>(kind: Kind): (StreamEvent & { readonly kind: Kind })[] {
    return this.passes.flat().filter((event) => event.kind === kind) as never
  }

  /** What holds for the events of any pass. */
  #check(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (this.#seq !== undefined) expect(event.seq).toBe(this.#seq + 1)
      this.#seq = event.seq
      expect(event.run).toBe(events[0]?.run)
      expect(event.ns).toEqual([])
      const id = told(event)
      if (id === undefined) continue
      expect(this.#told.has(id), `${id} is told once`).toBe(false)
      this.#told.add(id)
    }
  }

  async #passOf(outcome: Outcome<State>, events: readonly StreamEvent[]): Promise<Pass> {
    const { app, thread } = this
    const open = outcome.status === 'interrupted' ? outcome.interruptions : []
    const timers = outcome.status === 'success' ? [] : outcome.timers
    const kinds = events.map(({ kind }) => kind)
    const done = kinds.flatMap((kind, at) => (kind === 'done' ? [at] : []))
    expect(done).toEqual(outcome.status === 'success' ? [kinds.length - 1] : [])
    const pauses = kinds.findIndex((kind) => kind === 'interrupt' || kind === 'wait')
    if (pauses >= 0)
      expect(kinds.slice(pauses).filter((kind) => kind !== 'interrupt' && kind !== 'wait')).toEqual(
        [],
      )
    expect(await app.interruptions({ thread })).toEqual(open)
    const { status, state, checkpoint, ...stored } = await this.snapshot()
    expect({
      status,
      state,
      checkpoint,
      open: stored.interruptions,
      timers: stored.timers,
    }).toEqual({
      status: outcome.status,
      state: outcome.state,
      checkpoint: outcome.checkpoint,
      open,
      timers,
    })
    return { status: outcome.status, state: outcome.state, open, timers, events, outcome }
  }
}

/** The error a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Error> {
  const settled = await promise.then(
    () => undefined,
    (error: Error) => ({ error }),
  )
  if (settled === undefined) throw new Error('It was not refused')
  return settled.error
}

/** Every value of a sequence. */
export async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = []
  for await (const value of values) found.push(value)
  return found
}

/** Every row of a store, revisions included. */
export async function rowsOf(store: Store): Promise<readonly Entry[]> {
  const prefixes = ['h/', 't/', 'd/', 'o/', 'n/']
  return (await Promise.all(prefixes.map((prefix) => store.list({ prefix, limit: 10_000 })))).flat()
}

/** The open question with this payload. */
export function asks(open: readonly Interruption[], payload: unknown): Interruption {
  const [found, ...more] = open.filter((one) => alike(one.payload, payload))
  expect(found, `a question ${JSON.stringify(payload)} is open`).toBeDefined()
  expect(more).toEqual([])
  return found as Interruption
}

function alike(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function told(event: StreamEvent): string | undefined {
  if (event.kind === 'interrupt') return event.interruption.id
  return event.kind === 'wait' ? event.timer.id : undefined
}
