import { UnserializableValue } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Json } from '../schema.ts'
import {
  className,
  isPart,
  isRecord,
  restore,
  standin,
  type Part,
  type TagType,
} from './codec-tags.ts'

/** A stored value: what JSON can hold as it is, or a tree with tags beside it. Owned by the engine, never changed. */
export type Cell = string | number | boolean | null | CellTree | Tagged

/** Plain JSON: its numbers are finite and not −0, its depth is limited. */
export type CellTree = readonly Json[] | { readonly [key: string]: Json }

/** Which type the value at a path of the tree has. */
export type Tag = readonly [type: TagType, ...path: (string | number)[]]

/** A value that JSON can't hold. Its tags are in the order of restoring: members before what holds them. */
export class Tagged {
  readonly tree: Json
  readonly tags: readonly Tag[]

  constructor(tree: Json, tags: readonly Tag[]) {
    this.tree = tree
    this.tags = tags
  }
}

/** What is stored isn't a cell. The message is a clause that says why. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

/**
 * Validates and copies a value: primitives, arrays (holes become `undefined`, named members are left out), plain objects
 * (without a prototype they become ordinary ones), Date, Map, Set, bytes, and errors (without their stack; a subclass
 * becomes the nearest built-in class with its name). Every getter is read once. Identity isn't kept: the same object
 * twice becomes two.
 *
 * @param value What to store
 * @param node The node that returned it, for the error
 * @param root How its path starts in an error, such as the name of a field
 * @throws UnserializableValue for anything else, for a circular reference and for nesting deeper than 1,000
 */
export function encode(value: unknown, node?: string, root = ''): Cell {
  if (isJson(value)) return value
  const walk: Walk = { node, root, path: [], holders: [], tags: [] }
  const tree = cellOf(value, walk)
  return walk.tags.length > 0 ? new Tagged(tree, walk.tags) : tree
}

/** A fresh copy for a reader who may do what they like with it. */
export function decode(cell: Cell): unknown {
  return cell instanceof Tagged ? untag(cell) : copy(cell)
}

/** What a row holds for a cell: a primitive as it is, else `[tree]` or `[tree, tags]`. */
export function write(cell: Cell): Json {
  if (cell instanceof Tagged) return [cell.tree, cell.tags]
  return isJson(cell) ? cell : [cell]
}

/**
 * The cell that a row holds.
 *
 * @param json What `write` made, parsed from text; the cell keeps it
 * @throws Unreadable when it isn't a cell: tampered text never constructs anything else
 */
export function read(json: unknown): Cell {
  if (isJson(json)) return json
  try {
    const [tree, tags, ...more] = Array.isArray(json) && isSound(json, -1) ? json : []
    if (tags === undefined && isPart(tree)) return tree as unknown as CellTree
    if (!Array.isArray(tags) || tags.length === 0 || more.length > 0)
      throw new TypeError('it has another shape')
    const cell = new Tagged(tree, tags)
    untag(cell)
    return cell
  } catch (cause) {
    throw new Unreadable((cause as Error).message, { cause })
  }
}

/** Whether two cells hold the same value. The order of an object's keys doesn't matter; that of a Map or a Set does. */
export function same(a: Cell, b: Cell): boolean {
  return equal(parts(a), parts(b))
}

const LIMIT = 1000

interface Walk {
  readonly node: string | undefined
  readonly root: string
  /** Where the walk is, and the objects it came through. */
  readonly path: (string | number)[]
  readonly holders: object[]
  readonly tags: Tag[]
}

function isJson(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'number') return value - value === 0 && (value !== 0 || 1 / value > 0)
  return typeof value === 'string' || typeof value === 'boolean' || value === null
}

function cellOf(value: unknown, walk: Walk): Exclude<Cell, Tagged> {
  if (isJson(value)) return value
  if (!isPart(value)) return tagged(value, walk)
  if (walk.holders.includes(value)) throw refusal(walk, 'circular reference')
  if (walk.path.length > LIMIT) throw refusal(walk, `nesting deeper than ${LIMIT}`)
  try {
    if (isRecord(value)) return members({ ...value }, value, walk)
    // Borrowed, because another realm's own makes arrays of that realm.
    return isArray(value)
      ? members(Array.prototype.slice.call(value), value, walk)
      : tagged(value, walk)
  } catch (cause) {
    // A getter threw, or a proxy, or an impostor of a built-in class.
    throw cause instanceof UnserializableValue ? cause : refusal(walk, 'unreadable object', cause)
  }
}

// Whether text held a tree: 1e999 and -0 parse into numbers that JSON doesn't write.
function isSound(json: unknown, depth: number): boolean {
  if (!isPart(json)) return isJson(json)
  return depth <= LIMIT && Object.values(json).every((item) => isSound(item, depth + 1))
}

function isArray(value: object): value is unknown[] {
  return (
    Array.isArray(value) &&
    (Object.getPrototypeOf(value) === Array.prototype || className(value) === 'Array')
  )
}

// Turns the members of a shallow copy into cells.
function members(part: object, value: object, walk: Walk): CellTree {
  const copied = part as Part
  // When a member can't be stored the walk is over: nothing has to be popped.
  walk.holders.push(value)
  if (Array.isArray(part)) {
    for (let index = 0; index < part.length; index++) {
      if (!isJson(part[index])) member(copied, index, walk)
    }
  } else {
    if (Object.getOwnPropertySymbols(part).length > 0) throw refusal(walk, 'symbol key')
    for (const key in copied) {
      if (!isJson(copied[key]) && Object.hasOwn(copied, key)) member(copied, key, walk)
    }
  }
  walk.holders.pop()
  return copied as CellTree
}

function member(part: Part, key: string | number, walk: Walk): void {
  walk.path.push(key)
  part[key] = cellOf(part[key], walk)
  walk.path.pop()
}

function tagged(value: unknown, walk: Walk): Exclude<Cell, Tagged> {
  const [type, raw] = standin(value) ?? []
  if (type === undefined) throw refusal(walk, isPart(value) ? className(value) : typeof value)
  const tree = isPart(raw) ? members(raw, value as object, walk) : raw
  walk.tags.push([type, ...walk.path])
  return tree as Exclude<Cell, Tagged>
}

/** A path as a program would write it. */
export function pathText(keys: readonly (string | number)[], root = ''): string {
  return keys.reduce<string>((before, key) => {
    if (typeof key === 'number' || !/^[a-z_$][\w$]*$/i.test(key))
      return `${before}[${JSON.stringify(key)}]`
    return before === '' ? key : `${before}.${key}`
  }, root)
}

// The value stays out of it: it may be long, or secret.
function refusal(
  { node, root, path: keys }: Walk,
  type: string,
  cause?: unknown,
): UnserializableValue {
  const path = pathText(keys, root)
  const what = `${path === '' ? 'a value' : `"${path}"`}${node === undefined ? '' : ` of node "${node}"`}`
  const details = tidy({ path, type, node })
  return new UnserializableValue(`Cannot store ${what}: its type is "${type}"`, details, { cause })
}

function copy(tree: unknown): unknown {
  if (!isPart(tree)) return tree
  if (Array.isArray(tree)) return tree.map(copy)
  const out = { ...tree }
  for (const key of Object.keys(out)) if (isPart(out[key])) out[key] = copy(out[key])
  return out
}

// Members come before what holds them, so a path only ever leads through plain arrays and objects.
function untag({ tree, tags }: Tagged): unknown {
  const top = [copy(tree)]
  for (const [type, ...path] of tags) {
    let at: Part = top as never
    let key: string | number = 0
    for (const next of path) {
      at = found(at, key) as Part
      key = next
    }
    const raw = found(at, key)
    at[key] = restore(type, raw)
  }
  return top[0]
}

function found(part: unknown, key: string | number): unknown {
  const isKey = Array.isArray(part) ? Number.isInteger(key) : typeof key === 'string'
  const isIn = isPart(part) && (Array.isArray(part) || isRecord(part)) && Object.hasOwn(part, key)
  if (!isKey || !isIn) throw new TypeError('it has a tag that points nowhere')
  return part[key]
}

/** What two cells have in common that hold the same value: JSON, whose objects may have their keys in another order. */
export function parts(cell: Cell): unknown[] {
  if (!(cell instanceof Tagged)) return [cell]
  return [cell.tree, cell.tags.map((tag) => JSON.stringify(tag)).sort()]
}

function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isPart(a) || !isPart(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  )
}
