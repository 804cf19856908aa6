// What the tests of monitors and presences share: somebody who writes down what they are told, and a store that shows
// what is saved at that very moment.
import {
  field,
  graph,
  type Context,
  type Graph,
  type Monitor,
  type MonitorEvent,
  type Presence,
  type PresenceState,
  type Store,
} from 'heddle'
import { readHead } from '../../src/durable/head.ts'
import { toldBy } from '../../src/durable/keys.ts'
import { readEnd, readStart } from '../../src/durable/run-record.ts'

type Of = Parameters<Presence['set']>[1]

/** Writes down what it is told, in order. */
export class Watcher {
  readonly told: MonitorEvent[] = []
  readonly shown: (readonly [state: PresenceState, of: Of])[] = []
  /** Both together, by kind and state. */
  readonly order: string[] = []
  readonly monitor: Monitor
  readonly presence: Presence

  constructor(heard: (event: MonitorEvent) => void = () => {}) {
    this.monitor = {
      emit: (event) => {
        this.told.push(event)
        this.order.push(event.kind)
        heard(event)
      },
    }
    this.presence = {
      set: (state, of) => {
        this.shown.push([state, of])
        this.order.push(state)
      },
    }
  }

  /** As options, of an app or of a request. */
  get both(): { readonly monitor: Monitor; readonly presence: Presence } {
    const { monitor, presence } = this
    return { monitor, presence }
  }
  /** Kinds of what a run was told, and what it seemed to do. */
  get kinds(): string[] {
    return this.told.map(({ kind }) => kind)
  }
  get states(): string[] {
    return this.shown.map(([state]) => state)
  }
  of<Kind extends MonitorEvent['kind']>(kind: Kind): (MonitorEvent & { readonly kind: Kind })[] {
    return this.told.filter((event) => event.kind === kind) as never
  }
}

/** A store whose rows can be looked at without waiting: those that a commit has stored, and said so, without their sums. */
export function open(store: Store): { readonly store: Store; readonly rows: Map<string, string> } {
  const rows = new Map<string, string>()
  return {
    rows,
    store: {
      ...store,
      async commit(batch) {
        const revision = await store.commit(batch)
        if (revision === undefined) return revision
        for (const { key, value } of batch.puts ?? [])
          rows.set(key, value.slice(0, value.lastIndexOf('~1')))
        for (const key of batch.deletes ?? []) rows.delete(key)
        return revision
      },
    },
  }
}

/** Whether what an event tells of is saved: `true`, or what is wrong. */
export function truth(event: MonitorEvent, rows: ReadonlyMap<string, string>): true | string {
  try {
    return wrongWith(event, rows) ?? true
  } catch (error) {
    return String(error)
  }
}

function wrongWith(event: MonitorEvent, rows: ReadonlyMap<string, string>): string | undefined {
  const { kind, run } = event
  const records = [...rows].filter(([key]) => /^t\/[^/]+\/r\//.test(key))
  const start = records.find(
    ([key, text]) => toldBy(key) === 'start' && readStart(text).id === run,
  )?.[0]
  if (!start) return `${kind}: run "${run}" is not saved`
  const text = rows.get(`${start}.e`)
  const end = text === undefined ? undefined : readEnd(text)
  if (kind === 'run_start') {
    const heads = [...rows]
      .filter(([key]) => key.startsWith('h/'))
      .map(([, head]) => readHead(head))
    const runs = heads.some((head) => head.run === run && head.status === 'running')
    return runs && !end ? undefined : `${kind}: run "${run}" is not running`
  }
  if (kind === 'run_end') return end?.status === 'success' ? undefined : `${kind}: no success`
  if (kind === 'run_error')
    return end?.error?.message === event.error ? undefined : `${kind}: no such error is saved`
  if (kind === 'run_interrupt')
    return [...rows.keys()].some((key) => key.endsWith(`/i/${event.interruptionId}`))
      ? undefined
      : `${kind}: the question is not saved`
  return undefined
}

/**
 * A graph of one node.
 *
 * @param run What it returns is the update, if it is an object
 */
export function steps(
  run: (ctx: Context<unknown>, said: string) => unknown,
  more: { readonly retry?: { readonly attempts: number; readonly delay: number } } = {},
): Graph {
  return graph({
    name: 'asked',
    state: { said: field<string>('') },
    nodes: {
      say: {
        run: async ({ said }, ctx) => {
          const update = await run(ctx as never, said)
          return Object(update) === update ? (update as { said: string }) : undefined
        },
        ...more,
      },
    },
    edges: { start: 'say', say: 'end' },
  }) as never
}
