import { fromBase64, toBase64 } from '../lib/base64.ts'

/**
 * What a tag can say: the closed list of what decoding constructs. `number` stands for NaN, ±Infinity and −0; every
 * other type is what its class makes.
 */
export type TagType =
  | 'undefined'
  | 'number'
  | 'bigint'
  | 'Date'
  | 'Map'
  | 'Set'
  | BytesType
  | ErrorType

type BytesType =
  | 'ArrayBuffer'
  | 'DataView'
  | `${`${'Int' | 'Uint'}${8 | 16 | 32}` | 'Uint8Clamped' | `Big${'Int' | 'Uint'}64` | `Float${16 | 32 | 64}`}Array`
type ErrorType =
  `${'' | 'Aggregate' | 'Eval' | 'Range' | 'Reference' | 'Syntax' | 'Type' | 'URI'}Error`

/** What stands for a value JSON can't hold: text, a number, or an array or object whose members still have to be encoded. */
export type Standin = readonly [type: TagType, raw: unknown]

/** Whether a value is an array or an object. */
export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null
}

/** The members of an array or an object. */
export type Part = Record<string | number, unknown>

/** The name of the class that made an object; holds across realms, where `instanceof` doesn't. */
export function className(value: object): string {
  return `${Object.getPrototypeOf(value)?.constructor?.name || 'object'}`
}

/** Whether an object is plain, also in another realm: `Object.prototype` has a class, yet no prototype. */
export function isRecord(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && className(value) === 'Object'
}

/**
 * Takes a value apart. The methods are borrowed from the built-in prototypes because those refuse impostors.
 *
 * @returns Nothing for a value that can't be stored
 * @throws TypeError for an impostor
 */
export function standin(value: unknown): Standin | undefined {
  if (value === undefined) return ['undefined', null]
  if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : `${value}`]
  if (typeof value === 'bigint') return ['bigint', `${value}`]
  if (!isPart(value)) return
  const type = className(value)
  // Clocks of tests put a `Date` of their own, with another name, in the place of the platform's.
  if (type === 'Date' || Object.getPrototypeOf(value) === Date.prototype) {
    const time = Date.prototype.getTime.call(value)
    return ['Date', Number.isNaN(time) ? null : time]
  }
  if (type === 'Map') return [type, [...Map.prototype.entries.call(value)]]
  if (type === 'Set') return [type, [...Set.prototype.values.call(value)]]
  if (isBytes(type)) return [type, toBase64(bytesIn(value))]
  if (value instanceof Error || Object.prototype.toString.call(value) === '[object Error]')
    return fromError(value as unknown as Error)
}

/**
 * Makes a value from its stand-in. What is stored may have been tampered with, so every argument is checked.
 *
 * @throws When the type is unknown or the stand-in isn't one of that type; the message says why
 */
export function restore(type: unknown, raw: unknown): unknown {
  if (typeof raw === 'string') {
    if (type === 'number' && /^(NaN|-?Infinity|-0)$/.test(raw)) return Number(raw)
    if (type === 'bigint' && /^(0|-?[1-9]\d*)$/.test(raw)) return BigInt(raw)
    if (isBytes(type)) return toBytes(type, raw)
  } else if (Array.isArray(raw)) {
    if (type === 'Set') return whole(new Set(raw), raw)
    if (type === 'Map' && raw.every((entry) => Array.isArray(entry) && entry.length === 2))
      return whole(new Map(raw), raw)
  } else if (isPart(raw)) {
    const { name, message } = raw
    if (isError(type) && isRecord(raw) && typeof name === 'string' && typeof message === 'string')
      return toError(type, raw)
  } else {
    if (type === 'undefined' && raw === null) return
    const time = raw === null ? Number.NaN : raw
    if (type === 'Date' && typeof time === 'number' && Object.is(new Date(time).getTime(), time))
      return new Date(time)
  }
  throw new TypeError("it has a value of an unknown type, or one that its type can't have")
}

const isBytes = (type: unknown): type is BytesType =>
  typeof type === 'string' &&
  /^(ArrayBuffer|DataView|(U?[Ii]nt(8|16|32)|Uint8Clamped|Big(Ui|I)nt64|Float(16|32|64))Array)$/.test(
    type,
  )

const isError = (type: unknown): type is ErrorType =>
  typeof type === 'string' && /^(Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error$/.test(type)

// A key or an element that stands twice would vanish.
function whole<Group extends { readonly size: number }>(
  group: Group,
  { length }: readonly unknown[],
): Group {
  if (group.size !== length) throw new TypeError('it has a key or an element twice')
  return group
}

// Its type is the nearest built-in class, so that `instanceof TypeError` holds for subclasses too. Of the members that
// aren't enumerable only these are stored: the stack isn't. A name or a message that is no text can't come back as it was.
function fromError(error: Error): Standin | undefined {
  const { name, message } = error
  if (typeof name !== 'string' || typeof message !== 'string') return undefined
  let type = className(error)
  for (let at: object = error; !isError(type); type = className(at)) at = Object.getPrototypeOf(at)
  const { stack, ...fields } = { ...error, message, name }
  if (Object.hasOwn(error, 'cause')) fields.cause = error.cause
  return [
    type,
    type === 'AggregateError' ? { ...fields, errors: (error as AggregateError).errors } : fields,
  ]
}

function toError(type: ErrorType, fields: Part): Error {
  const error = make<Error>(type, [])
  // Where it was thrown is forgotten; where it was decoded would mislead.
  for (const [key, value] of Object.entries({
    ...fields,
    stack: `${fields['name']}: ${fields['message']}`,
  })) {
    const enumerable =
      !/^(name|message|stack|cause)$/.test(key) && (key !== 'errors' || type !== 'AggregateError')
    Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true })
  }
  return error
}

// By name, since a runtime may lack a class (Float16Array). An error takes `[]` for an empty message or for no errors.
function make<Made>(type: BytesType | ErrorType, argument: unknown): Made {
  return new (globalThis as unknown as Record<string, new (argument: unknown) => Made>)[type]!(
    argument,
  )
}

function bytesIn(value: object): Uint8Array {
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : new Uint8Array(ArrayBuffer.prototype.slice.call(value, 0))
}

function toBytes(type: BytesType, text: string): unknown {
  const { buffer } = fromBase64(text)
  return type === 'ArrayBuffer' ? buffer : make(type, buffer)
}
