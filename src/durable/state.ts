import type { Key, Put } from '../store/store.ts'
import { encode, read, Unreadable, write, type Cell } from './codec.ts'
import { logKey } from './keys.ts'
import { copyOf, List, type Value } from './list.ts'
import { carry, rowsOf, type LogRef } from './log.ts'
import { isObject, readRow } from './row.ts'

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

/** A log on its way: `shared` ones belong to another branch or owner, so that the next change begins a generation. */
interface Log {
  ref: LogRef
  shared: boolean
  /** By level: what changed, or where the items begin, since the last row of that level. */
  since: Set<number>[] | number[]
}

/** The fields of one graph in one namespace, and how much of them is stored. Values are stored once per change. */
export class State {
  readonly fields: readonly FieldShape[]
  readonly values: Value[]
  readonly #dirty = new Set<number>()
  #plain: Log | undefined
  readonly #lists: (Log | undefined)[]
  readonly #listed: readonly number[]

  constructor(fields: readonly FieldShape[]) {
    this.fields = fields
    this.values = new Array<Value>(fields.length).fill(undefined)
    this.#lists = []
    this.#listed = fields.flatMap(({ kind }, i) => (kind === 'list' ? [i] : []))
  }

  /** Sets a plain field, or a list whole. */
  set(at: number, value: Value): void {
    this.values[at] = value
    if (value instanceof List) this.#lists[at] = undefined
    else this.#dirty.add(at)
  }

  /** Adds to a list. */
  append(at: number, cells: readonly Cell[]): void {
    const list = this.values[at]
    this.values[at] = list instanceof List ? list.append(cells) : new List([...cells])
  }

  /** Adds the rows of everything that changed since the last call, and tells where the state stands then. */
  write(root: Key, checkpoint: string, puts: Put[]): StateRefs {
    if (this.#dirty.size > 0) this.#writePlain(root, checkpoint, puts)
    let l: Record<string, LogRef> | undefined
    for (const i of this.#listed) {
      const list = this.values[i]
      if (!(list instanceof List)) continue
      const log = this.#writeList(root, checkpoint, i, list, puts)
      if (log !== undefined)
        (l ??= Object.create(null) as Record<string, LogRef>)[(this.fields[i] as FieldShape).name] =
          refOf(log)
    }
    return { p: this.#plain && refOf(this.#plain), l }
  }

  #writePlain(root: Key, checkpoint: string, puts: Put[]): void {
    const log = this.#plain
    let changed: Iterable<number> = this.#dirty
    let ref: LogRef
    if (log === undefined || log.shared) {
      ref = [`${checkpoint}.p`, 1, 1]
      changed = this.values.keys()
      this.#plain = { ref, shared: false, since: [] }
    } else {
      const [generation, updates, base] = log.ref
      ref = log.ref = [generation, updates + 1, base]
      let size = carry(updates + 1 - base)
      const since = log.since as Set<number>[]
      for (let level = 0; ; level++, size /= 32) {
        if (size === 1) {
          const set = (since[level] ??= new Set())
          for (const i of changed) set.add(i)
          break
        }
        const merged = (since[level] ??= new Set())
        for (const i of changed) merged.add(i)
        since[level] = new Set()
        changed = merged
      }
    }
    let text = ''
    for (const i of changed) {
      const value = this.values[i]
      if (value === undefined || value instanceof List) continue
      text += `${text && ','}${JSON.stringify((this.fields[i] as FieldShape).name)}:${JSON.stringify(write(value))}`
    }
    puts.push({ key: lastRow(root, ref), value: `{${text}}` })
    this.#dirty.clear()
  }

  #writeList(root: Key, checkpoint: string, at: number, list: List, puts: Put[]): Log | undefined {
    let log = this.#lists[at]
    let from = 0
    if (log !== undefined && (log.since[0] as number) === list.length) return log
    if (log === undefined || log.shared) {
      log = this.#lists[at] = {
        ref: [`${checkpoint}.${at.toString(36)}`, 1, 1],
        shared: false,
        since: [],
      }
    } else {
      const [generation, updates, base] = log.ref
      log.ref = [generation, updates + 1, base]
      from = (log.since[levelOf(carry(updates + 1 - base))] ?? 0) as number
    }
    settle(log.since as number[], log.ref, list.length)
    puts.push({
      key: lastRow(root, log.ref),
      value: JSON.stringify(list.items.slice(from, list.length).map(write)),
    })
    return log
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
    const lists = fields
      ? fields.filter(({ name }) => Object.hasOwn(l, name))
      : Object.keys(l).map((name) => ({ name, kind: 'list' }))
    const wanted = [...(p ? [p] : []), ...lists.map(({ name }) => l[name] as LogRef)]
    const rows = wanted.map((ref) => rowsOf(ref))
    const keys = wanted.flatMap((ref, i) =>
      (rows[i] as [number, number][]).map(([at, count]) => logKey(root, ref[0], at, count)),
    )
    const texts = (await store.get(keys)).map((entry, i) => {
      if (entry === undefined) throw new Unreadable(`row "${keys[i]}" is missing`)
      return readRow<unknown>(entry.value, () => true, 'a row of its state')
    })
    const plain = (): FieldShape[] => {
      const named = texts.slice(0, p && rows[0]?.length).flatMap((row) => Object.keys(object(row)))
      return [...new Set(p && named)].map((name) => ({ name, kind: 'plain' }))
    }
    const state = new State(fields ?? [...lists, ...plain()])
    const index = new Map(state.fields.map(({ name }, i) => [name, i]))
    let next = 0
    if (p) {
      const since: Set<number>[] = []
      for (const [, count] of rows[0] as [number, number][]) {
        const row = object(texts[next++])
        const set = (since[levelOf(count)] ??= new Set())
        for (const name of Object.keys(row)) {
          const i = index.get(name)
          if (i === undefined) continue
          state.values[i] = read(row[name])
          if (next > 1) set.add(i)
        }
      }
      state.#plain = { ref: p, shared: shared || p[3] === 1, since }
    }
    let nth = p ? 1 : 0
    for (const { name } of lists) {
      const i = index.get(name) as number
      const ref = l[name] as LogRef
      const items: Cell[] = []
      const since: number[] = []
      for (const [at, count] of rows[nth++] as [number, number][]) {
        for (const item of array(texts[next++])) items.push(read(item))
        settle(since, [ref[0], at + count, ref[2]], items.length)
      }
      state.values[i] = new List(items)
      state.#lists[i] = { ref, shared: shared || ref[3] === 1, since }
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

const refOf = ({ ref, shared }: Log): LogRef => (shared ? [ref[0], ref[1], ref[2], 1] : ref)

const levelOf = (size: number): number => (size < 32 ? 0 : 1 + levelOf(size / 32))

/** The row that the last update of a log stands in. */
function lastRow(root: Key, [generation, updates, base]: LogRef): Key {
  const size = updates === base ? base : carry(updates - base)
  return logKey(root, generation, updates - size, size)
}

/** Notes that every level the last row closed now begins at `length`; a base row closes all. */
function settle(since: number[], [, updates, base]: LogRef, length: number): void {
  const closed = updates === base ? 8 : levelOf(carry(updates - base))
  for (let level = 0; level <= closed; level++) since[level] = length
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Unreadable('a row of its state is no record')
  return value
}

function array(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Unreadable('a row of its state is no list')
  return value
}
