import type { Key, Put } from '../store/store.ts'
import { encode, read, Unreadable, write, type Cell } from './codec.ts'
import { logKey } from './keys.ts'
import { copyOf, List, type Value } from './list.ts'
import { carry, rowsOf, type LogRef } from './log.ts'
import { readRow } from './row.ts'

/** What the durable layer needs to know of a field. */
export interface FieldShape {
  readonly name: string
  /** `list`: the field only grows, and what is appended is stored. */
  readonly kind: string
}

/** Where the state of a checkpoint stands: the log of its plain fields, and one of each list. */
export interface StateRefs {
  readonly p?: LogRef | undefined
  readonly l?: { readonly [field: string]: LogRef } | undefined
}

/** Where rows are read from. */
export interface Rows {
  get(keys: readonly Key[]): Promise<readonly ({ readonly value: string } | undefined)[]>
}

/** A log on its way. A shared one belongs to another branch or owner too: the next change begins a generation. */
interface Log {
  generation: string
  updates: number
  shared: boolean
  /** Of the plain fields: which update changed each last. Of a list: how long it was after each update. */
  marks: number[]
}

const fresh = (): Log => ({ generation: '', updates: 0, shared: true, marks: [] })

/** The fields of one graph in one namespace, and how much of them is stored. Values are stored once per change. */
export class State {
  readonly fields: readonly FieldShape[]
  readonly values: Value[]
  #changed = false
  #plain: Log = fresh()
  readonly #lists: Log[]

  constructor(fields: readonly FieldShape[]) {
    this.fields = fields
    this.values = fields.map(() => undefined)
    this.#lists = fields.map(fresh)
  }

  /** Sets a plain field, or a list whole. */
  set(at: number, value: Value): void {
    this.values[at] = value
    if (value instanceof List) this.#lists[at] = fresh()
    else {
      this.#changed = true
      this.#plain.marks[at] = this.#plain.updates + 1
    }
  }

  /** Adds to a list. */
  append(at: number, cells: readonly Cell[]): void {
    const list = this.values[at]
    this.values[at] = list instanceof List ? list.append(cells) : new List([...cells])
  }

  /** Adds the rows of everything that changed since the last call, and tells where the state stands then. */
  write(root: Key, checkpoint: string, puts: Put[]): StateRefs {
    const put = (log: Log, from: number, value: string): void =>
      void puts.push({ key: logKey(root, log.generation, from, log.updates - from), value })
    const plain = this.#plain
    if (this.#changed) {
      const from = advance(plain, `${checkpoint}.p`)
      let text = ''
      for (const [i, value] of this.values.entries()) {
        if (value === undefined || value instanceof List) continue
        if (from === 0 || (plain.marks[i] ?? 0) > from)
          text += `${text && ','}${JSON.stringify(this.fields[i]?.name)}:${JSON.stringify(write(value))}`
      }
      put(plain, from, `{${text}}`)
      this.#changed = false
    }
    let l: Record<string, LogRef> | undefined
    for (const [i, { name }] of this.fields.entries()) {
      const list = this.values[i]
      if (!(list instanceof List)) continue
      const log = this.#lists[i] as Log
      if (log.marks[log.updates] !== list.length) {
        const from = advance(log, `${checkpoint}.${i.toString(36)}`)
        log.marks[log.updates] = list.length
        const items = list.items.slice(log.marks[from] ?? 0, list.length)
        put(log, from, JSON.stringify(items.map(write)))
      }
      ;(l ??= Object.create(null) as Record<string, LogRef>)[name] = refOf(log)
    }
    return { p: plain.updates > 0 ? refOf(plain) : undefined, l }
  }

  /**
   * Reads the state that a checkpoint names.
   *
   * @param fields What the graph has; without them, what is stored
   * @param shared The rows belong to another branch or owner: the next change begins a generation of its own
   */
  static async load(
    fields: readonly FieldShape[] | undefined,
    root: Key,
    { p, l = {} }: StateRefs,
    store: Rows,
    shared: boolean,
  ): Promise<State> {
    const lists = fields?.filter(({ name }) => Object.hasOwn(l, name)).map(({ name }) => name)
    const names = lists ?? Object.keys(l)
    const refs = [...(p ? [p] : []), ...names.map((name) => l[name] as LogRef)]
    const places = refs.map((ref) => rowsOf(ref).map(([at, count]) => ({ ref, at, count })))
    const keys = places.flat().map(({ ref, at, count }) => logKey(root, ref[0], at, count))
    const texts = await store.get(keys)
    let n = 0
    const logs = places.map((rows, nth) => {
      const [generation, updates, common] = refs[nth] as LogRef
      return {
        log: { generation, updates, shared: shared || common === 1, marks: [] } as Log,
        rows: rows.map(({ at, count }) => {
          const key = keys[n]
          const entry = texts[n++]
          if (!entry) throw new Unreadable(`row "${key}" is missing`)
          return { end: at + count, row: readRow<object>(entry.value, 'a row of its state') }
        }),
      }
    })
    const plain = p && logs.shift()
    const stored = new Set(plain?.rows.flatMap(({ row }) => Object.keys(row)))
    const state = new State(
      fields ?? [
        ...names.map((name) => ({ name, kind: 'list' })),
        ...Array.from(stored, (name) => ({ name, kind: 'plain' })),
      ],
    )
    const index = new Map(state.fields.map(({ name }, i) => [name, i]))
    for (const { end, row } of plain?.rows ?? []) {
      for (const [name, json] of Object.entries(row)) {
        const i = index.get(name)
        if (i === undefined) continue
        state.values[i] = read(json)
        plain!.log.marks[i] = end
      }
    }
    if (plain) state.#plain = plain.log
    for (const [nth, { log, rows }] of logs.entries()) {
      const i = index.get(names[nth] as string) as number
      const items: Cell[] = []
      for (const { end, row } of rows) {
        for (const item of Object.values(row)) items.push(read(item))
        log.marks[end] = items.length
      }
      state.values[i] = new List(items)
      state.#lists[i] = log
    }
    for (const [i, { kind }] of state.fields.entries()) state.#convert(i, kind === 'list')
    return state
  }

  /** The graph has changed since: what was kept as a list is a plain field now, or the other way round. */
  #convert(at: number, listed: boolean): void {
    const value = this.values[at]
    if (value === undefined || value instanceof List === listed) return
    const items = copyOf(value)
    if (!listed) this.set(at, encode(items))
    else if (Array.isArray(items)) this.set(at, new List(items.map((item) => encode(item))))
  }
}

/** Counts an update. Tells how many came before those that its row holds. */
function advance(log: Log, generation: string): number {
  if (log.shared) Object.assign(log, { ...fresh(), generation, shared: false })
  const size = carry(log.updates++)
  return log.updates - size
}

const refOf = ({ generation, updates, shared }: Log): LogRef =>
  shared ? [generation, updates, 1] : [generation, updates]
