/**
 * The part of Standard Schema v1 (https://standardschema.dev) this library needs. zod, valibot and arktype schemas all
 * satisfy it, so none of them is imported here.
 */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What a schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

/** One thing that is wrong with a value. */
export interface Issue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

/** A JSON Schema document (draft 2020-12), as models and forms read it. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** A value that JSON can hold. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/**
 * `Value` itself where the codec can store it, `never` in the places where it can't: functions,
 * symbols, promises. Interfaces, optional members, dates, maps, sets, bytes and errors are fine.
 */
export type Storable<Value> = Value extends
  | ((...args: never[]) => unknown)
  | symbol
  | PromiseLike<unknown>
  ? never
  : Value extends
        | Date
        | Error
        | ReadonlyMap<unknown, unknown>
        | ReadonlySet<unknown>
        | ArrayBufferView
    ? Value
    : Value extends object
      ? { readonly [K in keyof Value]: Storable<Value[K]> }
      : Value

/**
 * A schema that accepts any value: a state field, an event or an item that only needs a type.
 *
 * @param initial The default, or a function that makes one; a field without one must be in the input
 */
export function field<Value>(): Schema<Value, Value>
export function field<Value>(initial: Value | (() => Value)): Schema<Value | undefined, Value>
export function field(...args: unknown[]): Schema {
  const [initial] = args
  const absent = (): SchemaResult<unknown> => {
    if (args.length === 0) return { issues: [{ message: 'Required' }] }
    return { value: typeof initial === 'function' ? initial() : initial }
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'heddle',
      // Called without a value for a field that is absent from the input: `undefined` is a value like any other.
      validate: (...given: unknown[]) => (given.length > 0 ? { value: given[0] } : absent()),
    },
  }
}
