import { UnserializableValue } from '../errors.ts'
import type { Json } from '../schema.ts'
import { className, isPlain, restore, standin } from './codec-tags.ts'
import type { TagType } from './codec-tags.ts'

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
 * Validates and copies a value: primitives, plain objects and arrays (holes become `undefined`, objects without a
 * prototype become ordinary ones), Date, Map, Set, bytes and errors (without their stack). Every getter is read once.
 * Identity isn't kept: the same object twice becomes two.
 *
 * @param value What to store
 * @param node The node that returned it, for the error
 * @param root How its path starts in an error, such as the name of a field
 * @throws UnserializableValue for anything else, a circular reference, and nesting deeper than 1,000
 */
export function encode(value: unknown, node?: string, root = ''): Cell {
  if (isJson(value)) return value
  const walk: Walk = { node, root, tags: undefined }
  const tree = cellOf(value, { walk, value: undefined, up: undefined, depth: 0, key: '' })
  return walk.tags === undefined ? tree : new Tagged(tree, walk.tags)
}

/** A fresh copy for a reader who may do what they like with it. */
export function decode(cell: Cell): unknown {
  if (typeof cell !== 'object' || cell === null) return cell
  return cell instanceof Tagged ? untag(cell) : copy(cell)
}

/** What a row holds for a cell: a primitive as it is, else `[tree]` or `[tree, tags]`. */
export function write(cell: Cell): Json {
  if (typeof cell !== 'object' || cell === null) return cell
  return cell instanceof Tagged ? [cell.tree, cell.tags] : [cell]
}

/**
 * The cell that a row holds.
 *
 * @param json What `write` made, after any number of trips through text
 * @throws Unreadable when it isn't a cell, so that tampered text never constructs anything else
 */
export function read(json: unknown): Cell {
  try {
    if (isJson(json)) return json
    if (!Array.isArray(json) || json.length < 1 || json.length > 2) throw new TypeError('it has another shape')
    const [tree, tags] = json.map((part) => encode(part))
    if (tree instanceof Tagged || tags instanceof Tagged) throw new TypeError('it holds what JSON can\'t')
    if (json.length === 1) {
      if (isJson(tree)) throw new TypeError('it has another shape')
      return tree as CellTree
    }
    if (!isTags(tags)) throw new TypeError('its tags have another shape')
    const cell = new Tagged(tree as Json, tags)
    untag(cell)
    return cell
  } catch (cause) {
    throw new Unreadable(cause instanceof Error ? cause.message : `${cause}`, { cause })
  }
}

/** Whether two cells hold the same value. The order of an object's keys doesn't matter; that of a Map or a Set does. */
export function same(a: Cell, b: Cell): boolean {
  if (!(a instanceof Tagged) || !(b instanceof Tagged)) return equal(a, b)
  return equal(a.tree, b.tree) && equal(sorted(a.tags), sorted(b.tags))
}

const LIMIT = 1000

interface Walk {
  readonly node: string | undefined
  readonly root: string
  tags: Tag[] | undefined
}

// What holds the value being walked; made once a member turns out to be more than JSON's primitives.
interface Frame {
  readonly walk: Walk
  readonly value: object | undefined
  readonly up: Frame | undefined
  readonly depth: number
  key: string | number
}

type Members = Record<string | number, unknown>

function isJson(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'number') return value - value === 0 && (value !== 0 || 1 / value > 0)
  return typeof value === 'string' || typeof value === 'boolean' || value === null
}

function isPart(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

// Records of another realm too: `Object.prototype` is the one prototype without a prototype that has a class.
function isRecord(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && className(value) === 'Object'
}

function cellOf(value: unknown, up: Frame): Exclude<Cell, Tagged> {
  if (isJson(value)) return value
  if (!isPart(value)) return tagged(value, up)
  for (let at: Frame | undefined = up; at !== undefined; at = at.up) {
    if (at.value === value) throw refusal(up, 'circular reference')
  }
  if (up.depth > LIMIT) throw refusal(up, `nesting deeper than ${LIMIT}`)
  try {
    if (!Array.isArray(value)) return isRecord(value) ? walked({ ...value }, value, up) : tagged(value, up)
    const isOurs = Object.getPrototypeOf(value) === Array.prototype || className(value) === 'Array'
    return isOurs ? walked(value.slice(), value, up) : tagged(value, up)
  } catch (cause) {
    throw cause instanceof UnserializableValue ? cause : unread(value, up, cause)
  }
}

// Replaces the members of a shallow copy by their cells.
function walked(copied: object, value: object, up: Frame): CellTree {
  let frame: Frame | undefined
  const part = copied as Members
  if (Array.isArray(copied)) {
    for (let index = 0; index < copied.length; index++) {
      if (isJson(copied[index])) continue
      frame ??= { walk: up.walk, value, up, depth: up.depth + 1, key: index }
      frame.key = index
      copied[index] = cellOf(copied[index], frame)
    }
    return copied
  }
  if (Object.getOwnPropertySymbols(part).length > 0) throw refusal(up, 'symbol key')
  for (const key in part) {
    if (isJson(part[key]) || !Object.hasOwn(part, key)) continue
    frame ??= { walk: up.walk, value, up, depth: up.depth + 1, key }
    frame.key = key
    part[key] = cellOf(part[key], frame)
  }
  return part as CellTree
}

function tagged(value: unknown, up: Frame): Exclude<Cell, Tagged> {
  const [type, raw] = standin(value) ?? []
  if (type === undefined) throw refusal(up, isPart(value) ? className(value) : typeof value)
  const tree = isPart(raw) ? walked(raw, value as object, up) : (raw as string | number | null)
  up.walk.tags ??= []
  up.walk.tags.push([type, ...pathOf(up)])
  return tree
}

function pathOf(up: Frame): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = up; at.up !== undefined; at = at.up) path.unshift(at.key)
  return path
}

// The value itself stays out of the message: it may be long or secret.
function refusal(up: Frame, type: string, key?: string, cause?: unknown): UnserializableValue {
  const { node, root } = up.walk
  const keys = pathOf(up).concat(key ?? [])
  let path = root
  for (const at of keys.slice(0, 50)) {
    if (typeof at === 'number') path += `[${at}]`
    else if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(at)) path += `[${JSON.stringify(at)}]`
    else path += path === '' ? at : `.${at}`
  }
  if (keys.length > 50) path += '…'
  const what = path === '' ? 'a value' : `"${path}"`
  const details = node === undefined ? { path, type } : { node, path, type }
  return new UnserializableValue(`Cannot store ${what}${node === undefined ? '' : ` of node "${node}"`}: its type is "${type}"`, details, cause === undefined ? undefined : { cause })
}

// Something threw while a value was read: an impostor of a built-in class, a getter or a proxy.
function unread(value: object, up: Frame, cause: unknown): UnserializableValue {
  let key: string | undefined
  let type = 'object'
  try {
    type = className(value)
    for (key of Object.keys(value)) void (value as Members)[key]
    key = undefined
  } catch {
    type = key === undefined ? type : 'getter that throws'
  }
  return refusal(up, type, key, cause)
}

function copy(tree: CellTree): object {
  if (Array.isArray(tree)) {
    const out: unknown[] = tree.slice()
    for (let index = 0; index < out.length; index++) {
      const member = out[index]
      if (isPart(member)) out[index] = copy(member as CellTree)
    }
    return out
  }
  const out: Members = { ...tree as Members }
  for (const key in out) {
    const member = out[key]
    if (isPart(member) && Object.hasOwn(out, key)) out[key] = copy(member as CellTree)
  }
  return out
}

// Members come before what holds them, so a path only ever leads through plain arrays and objects.
function untag({ tree, tags }: Tagged): unknown {
  const top: unknown[] = [isPart(tree) ? copy(tree) : tree]
  for (const [type, ...path] of tags) {
    let at: unknown = top
    let key: string | number = 0
    for (const next of path) {
      at = member(at, key)
      key = next
    }
    const raw = member(at, key);
    (at as Members)[key] = restore(type, raw)
  }
  return top[0]
}

function member(part: unknown, key: string | number): unknown {
  const has = Array.isArray(part)
    ? typeof key === 'number' && Object.hasOwn(part, key)
    : typeof key === 'string' && isPlain(part) && Object.hasOwn(part, key)
  if (!has) throw new TypeError('a tag points nowhere')
  return (part as Members)[key]
}

function isTags(json: unknown): json is readonly Tag[] {
  const isTag = (tag: unknown): boolean => Array.isArray(tag) && typeof tag[0] === 'string' && tag.every((key) => typeof key === 'string' || typeof key === 'number')
  return Array.isArray(json) && json.length > 0 && json.every(isTag)
}

function sorted(tags: readonly Tag[]): string[] {
  return tags.map((tag) => JSON.stringify(tag)).sort()
}

function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isPart(a) || !isPart(b) || Array.isArray(a) !== Array.isArray(b) || a instanceof Tagged || b instanceof Tagged) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && equal((a as Members)[key], (b as Members)[key]))
}
