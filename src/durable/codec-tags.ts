/**
 * What a tag can say: the closed list of what decoding constructs. `undefined`, `number` and `bigint` are the primitives
 * JSON lacks; `number` stands for NaN, ±Infinity and −0.
 */
export type TagType = 'undefined' | 'number' | 'bigint' | 'Date' | 'Map' | 'Set' | Bytes | Failure

type Bytes = (typeof BYTES)[number]
type Failure = (typeof FAILURES)[number]

// Names, not constructors: a runtime may lack one (Float16Array).
const BYTES = [
  'ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
  'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
] as const
const FAILURES = [
  'Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError',
] as const

/** What stands in a tree for a value JSON can't hold: JSON, or an array or object whose members still have to be walked. */
export type Standin = readonly [type: TagType, raw: unknown]

/** The name of the class that made an object; also across realms, where `instanceof` fails. */
export function className(value: object): string {
  const prototype: object | null = Object.getPrototypeOf(value)
  const name: unknown = prototype?.constructor?.name
  return typeof name === 'string' && name !== '' ? name : 'object'
}

/**
 * Takes a value apart. Methods of the built-in prototypes are borrowed because they refuse impostors, whatever realm
 * the value is from.
 *
 * @returns Nothing for a value that can't be stored
 * @throws TypeError for an impostor
 */
export function standin(value: unknown): Standin | undefined {
  if (value === undefined) return ['undefined', null]
  if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : `${value}`]
  if (typeof value === 'bigint') return ['bigint', `${value}`]
  if (typeof value !== 'object' || value === null) return
  const name = className(value)
  switch (name) {
    case 'Date': {
      const time = Date.prototype.getTime.call(value)
      return [name, Number.isNaN(time) ? null : time]
    }
    case 'Map':
      return [name, [...Map.prototype.entries.call(value)]]
    case 'Set':
      return [name, [...Set.prototype.values.call(value)]]
  }
  if (isOneOf(BYTES, name)) return [name, toBase64(bytesOf(value))]
  if (value instanceof Error || Object.prototype.toString.call(value) === '[object Error]') return failure(value as Error)
}

/**
 * Makes a value from its stand-in, or refuses: what is stored may have been tampered with.
 *
 * @throws When the type is unknown or the stand-in isn't one of that type; the message says why
 */
export function restore(type: string, raw: unknown): unknown {
  switch (type) {
    case 'undefined':
      if (raw === null) return
      break
    case 'number':
      if (isOneOf(['NaN', 'Infinity', '-Infinity', '-0'], raw)) return Number(raw)
      break
    case 'bigint':
      if (typeof raw === 'string' && /^(0|-?[1-9]\d*)$/.test(raw)) return BigInt(raw)
      break
    case 'Date':
      if (raw === null) return new Date(Number.NaN)
      if (Number.isInteger(raw) && Math.abs(raw as number) <= 8.64e15) return new Date(raw as number)
      break
    case 'Map':
      if (Array.isArray(raw) && raw.every((entry) => Array.isArray(entry) && entry.length === 2)) return whole(new Map(raw), raw)
      break
    case 'Set':
      if (Array.isArray(raw)) return whole(new Set(raw), raw)
      break
    default:
      if (isOneOf(BYTES, type)) {
        if (typeof raw === 'string') return new (globalThis as unknown as Record<Bytes, BytesClass>)[type](fromBase64(raw))
      } else if (!isOneOf(FAILURES, type)) throw new TypeError(`the type "${type}" is unknown`)
      else if (isPlain(raw) && typeof raw.message === 'string') return revive(type, raw as Fields)
  }
  throw new TypeError(`what stands for a value of type "${type}" isn't one`)
}

/** Whether an object is one that `{…}` makes in this realm. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

type BytesClass = new (bytes: unknown) => unknown
type Fields = Record<string, unknown> & { message: string }

function isOneOf<Text extends string>(list: readonly Text[], value: unknown): value is Text {
  return (list as readonly unknown[]).includes(value)
}

// A repeated key or element would be lost.
function whole<Group extends { readonly size: number }>(group: Group, raw: readonly unknown[]): Group {
  if (group.size !== raw.length) throw new TypeError('a key or an element stands twice')
  return group
}

// The nearest built-in class, so that `instanceof TypeError` holds for subclasses too. Own members that aren't enumerable
// (the stack among them) aren't stored, `cause` and `errors` excepted.
function failure(error: Error): Standin {
  let prototype: object = error
  while (!isOneOf(FAILURES, className(prototype))) prototype = Object.getPrototypeOf(prototype)
  const type = className(prototype) as Failure
  const { stack: _, message: __, name: ___, ...own } = { ...error }
  const fields: Fields = { ...own, message: `${error.message}` }
  if (error.name !== type) fields.name = `${error.name}`
  if (Object.hasOwn(error, 'cause')) fields.cause = error.cause
  if (type === 'AggregateError') fields.errors = (error as AggregateError).errors
  return [type, fields]
}

function revive(type: Failure, fields: Fields): Error {
  const error = type === 'AggregateError' ? new AggregateError([], fields.message) : new globalThis[type](fields.message)
  const hidden = ['message', 'name', 'cause', ...(type === 'AggregateError' ? ['errors'] : [])]
  const name = fields.name ?? type
  // Where it was thrown isn't known any more; where it was decoded would mislead.
  const members = { ...fields, stack: fields.message === '' ? name : `${name}: ${fields.message}` }
  for (const [key, value] of Object.entries(members)) {
    const enumerable = key !== 'stack' && !hidden.includes(key)
    Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true })
  }
  return error
}

function bytesOf(value: object): Uint8Array {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return new Uint8Array(ArrayBuffer.prototype.slice.call(value, 0))
}

// By chunks: an argument list has a limit. `toBase64` isn't everywhere yet.
function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return btoa(text)
}

function fromBase64(text: string): ArrayBuffer {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes.buffer
}
