import type { Key, Put } from '../store/store.ts'
import { encode, read, Unreadable, write, type Cell } from './codec.ts'
import { logKey } from './keys.ts'
import { copyOf, List, Messages, type News, type Value } from './list.ts'
import { carry, rowsOf, type LogRef } from './log.ts'
import type { StateRefs } from './refs.ts'
import { readRow } from './row.ts'

/** What the durable layer needs to know of a field. */
export interface FieldShape {
  readonly name: string
  /** `list`: the field only grows, and what is appended is stored. `messages`: what is done to it is. */
  readonly kind: string
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
  /** The messages that were there before the list was set whole. */
  before?: ReadonlySet<string> | undefined
}

/** A row of a log, and how many updates there were after it. */
interface LogRow {
  readonly key: Key
  readonly end: number
  readonly log: Log
  readonly list: number | undefined
}

/** A list, or messages, of what was stored of it. */
export const listOf = (kind: string | undefined, cells: readonly Cell[]): List =>
  kind === 'messages' ? new Messages().append(cells) : new List([...cells])

const empty = (): Record<string, LogRef> => Object.create(null) as Record<string, LogRef>

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
    const before = this.values[at]
    this.values[at] = value
    if (value instanceof List) {
      this.#lists[at] = fresh()
      if (before instanceof Messages) this.#lists[at].before = before.ids()
    } else {
      this.#changed = true
      this.#plain.marks[at] = this.#plain.updates + 1
    }
  }

  /** Forgets a field, and whatever is stored of fields that are gone: the next row of plain fields holds all there is. */
  drop(at = -1): void {
    if (at >= 0) this.values[at] = undefined
    this.#plain.shared = true
    this.#changed = true
  }

  /** The same values, none of which counts as stored: they are for another thread. */
  apart(): State {
    const state = new State(this.fields)
    for (const [at, value] of this.values.entries()) if (value !== undefined) state.set(at, value)
    state.compact()
    return state
  }

  /** Leaves messages behind that have come and gone. */
  compact(): void {
    for (const [at, value] of this.values.entries()) {
      const less = value instanceof Messages ? value.compact() : value
      if (less !== value) this.set(at, less)
    }
  }

  /** Adds to a list. */
  append(at: number, cells: readonly Cell[]): void {
    const list = this.values[at]
    this.values[at] =
      list instanceof List ? list.append(cells) : listOf(this.fields[at]?.kind, cells)
  }

  /**
   * Adds the rows of everything that changed since the last call, and tells where the state stands then.
   *
   * @param news Gets the messages that were not there at the last call
   */
  write(root: Key, checkpoint: string, puts: Put[], news?: Pick<News[], 'push'>): StateRefs {
    const put = (log: Log, from: number, value: string): void =>
      void puts.push({ key: logKey(root, log.generation, from, log.updates - from), value })
    const plain = this.#plain
    if (this.#changed) {
      const from = advance(plain, `${checkpoint}.p`)
      let text = ''
      for (let i = 0; i < this.values.length; i++) {
        const value = this.values[i]
        if (value === undefined || value instanceof List) continue
        if (from === 0 || (plain.marks[i] ?? 0) > from)
          text += `${text && ','}${JSON.stringify(this.fields[i]?.name)}:${JSON.stringify(write(value))}`
      }
      put(plain, from, `{${text}}`)
      this.#changed = false
    }
    let l: Record<string, LogRef> | undefined
    let m: Record<string, LogRef> | undefined
    for (let i = 0; i < this.values.length; i++) {
      const list = this.values[i]
      if (!(list instanceof List)) continue
      const { name } = this.fields[i] as FieldShape
      const log = this.#lists[i] as Log
      const isMessages = list instanceof Messages
      if (log.marks[log.updates] !== list.length) {
        if (news && isMessages) news.push(...list.since(log.marks[log.updates], log.before))
        const from = advance(log, `${checkpoint}.${i.toString(36)}`)
        log.marks[log.updates] = list.length
        const items = list.items.slice(log.marks[from] ?? 0, list.length)
        put(log, from, JSON.stringify(items.map(write)))
      }
      if (isMessages) (m ??= empty())[name] = refOf(log)
      else (l ??= empty())[name] = refOf(log)
    }
    return { p: plain.updates > 0 ? refOf(plain) : undefined, l, m }
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
    { p, l = {}, m = {} }: StateRefs,
    store: Rows,
    shared: boolean,
  ): Promise<State> {
    const known = [...(fields ?? [])]
    const state = new State(known)
    const index = new Map(known.map(({ name }, i) => [name, i]))
    const indexOf = (name: string, kind: string): number | undefined => {
      if (!fields && !index.has(name)) index.set(name, known.push({ name, kind }) - 1)
      return index.get(name)
    }
    const rowsIn = (ref: LogRef, list?: number): LogRow[] => {
      const [generation, updates, common] = ref
      const log: Log = { generation, updates, shared: shared || common === 1, marks: [] }
      if (list === undefined) state.#plain = log
      else state.#lists[list] = log
      return rowsOf(ref).map(([at, count]) => ({
        key: logKey(root, generation, at, count),
        end: at + count,
        log,
        list,
      }))
    }
    const rows = p ? rowsIn(p) : []
    const lists: List[] = []
    for (const [kind, refs] of [
      ['list', l],
      ['messages', m],
    ] as const) {
      for (const [name, ref] of Object.entries(refs)) {
        const list = indexOf(name, kind)
        if (list === undefined) continue
        rows.push(...rowsIn(ref, list))
        lists[list] = listOf(kind, [])
      }
    }
    const entries = await store.get(rows.map(({ key }) => key))
    let gone = false
    for (const [n, { key, end, log, list }] of rows.entries()) {
      const entry = entries[n]
      if (!entry) throw new Unreadable(`row "${key}" is missing`)
      const row = readRow<object>(entry.value, 'a row of its state')
      if (list !== undefined) {
        const longer = (lists[list] as List).append(Object.values(row).map(read))
        state.values[list] = lists[list] = longer
        log.marks[end] = longer.length
        continue
      }
      for (const [name, json] of Object.entries(row)) {
        const i = indexOf(name, 'plain')
        if (i === undefined) gone = true
        else {
          state.values[i] = read(json)
          log.marks[i] = end
        }
      }
    }
    if (gone) state.drop()
    for (const [i, { kind }] of state.fields.entries()) state.#convert(i, kind)
    return state
  }

  /** The graph has changed since: what was kept as a list is a plain field now, or the other way round. What isn't messages yet stays as it is. */
  #convert(at: number, kind: string): void {
    const value = this.values[at]
    const listed = kind === 'list'
    const fits = value instanceof List === listed && !(value instanceof Messages)
    if (value === undefined || kind === 'messages' || fits) return
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
