import type { Message, NewMessage, RemoveMessage } from '../model/message.ts'
import type { Schema } from '../schema.ts'

/** A state field that folds each update into the current value instead of replacing it. */
export interface Reduced<Input = any, Value = any, Update = any> {
  readonly schema: Schema<Input, Value>
  readonly reduce: (current: Value, update: Update) => Value
}

/** A schema, or a reducer over one. Named without type arguments, so that a call to `reduced` written in place is still inferred. */
export type Field =
  | { readonly '~standard': object }
  | { readonly schema: object; readonly reduce: object }

/** What a graph remembers, by name. */
export type Fields = Readonly<Record<string, Field>>

type InputOf<F> =
  F extends Reduced<infer I, any, any> ? I : F extends Schema<infer I, any> ? I : never
type ValueOf<F> =
  F extends Reduced<any, infer V, any> ? V : F extends Schema<any, infer V> ? V : never
type ChangeOf<F> = F extends Reduced<any, any, infer U> ? U : ValueOf<F>

// Each is written out by `& {}`, so that an editor shows the fields and not how they were made.

/** What a node reads: every field, validated and with its default filled in. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> } & {}

/** What a node returns: the fields it changes. A key that is absent is left alone; `undefined` is a value. */
export type UpdateOf<F extends Fields> = { readonly [K in keyof F]?: ChangeOf<F[K]> } & {}

type Needed<F extends Fields> = {
  [K in keyof F]: undefined extends InputOf<F[K]> ? never : K
}[keyof F]

/** What a caller supplies to start a turn: fields with a default are optional. */
export type InputFor<F extends Fields> = Flat<
  { readonly [K in Needed<F>]: InputOf<F[K]> } & {
    readonly [K in Exclude<keyof F, Needed<F>>]?: InputOf<F[K]>
  }
>

type Flat<T> = { [K in keyof T]: T[K] } & {}

/**
 * Declares a field that folds updates together, in declaration order of the nodes that wrote them.
 *
 * @param schema Shape of the stored value; give it a default so a thread can start without one
 * @param reduce Pure function from the current value and one update to the next value
 */
export function reduced<Input, Value, Update = Value>(
  schema: Schema<Input, Value>,
  reduce: (current: Value, update: Update) => Value,
): Reduced<Input, Value, Update> {
  return { schema, reduce }
}

/** Reducer: concatenates the update to the list. Only what is new is stored. */
export function append<Item>(current: Item[], update: readonly Item[]): Item[] {
  return current.concat(update)
}

/** Reducer: sets the keys of the update in a record and leaves the others. */
export function merge<Item>(
  current: Record<string, Item>,
  update: Readonly<Record<string, Item>>,
): Record<string, Item> {
  // Spreading defines keys where assigning would call the setter behind "__proto__".
  return { ...current, ...update }
}

/** Reducer: adds the update to the number. */
export function sum(current: number, update: number): number {
  return current + update
}

/** Reducer of `messages()`: puts messages in the places of those of their ids or else last, and takes removed ones away. */
export function byId(
  current: readonly Message[],
  update: readonly (NewMessage | RemoveMessage)[],
): readonly Message[] {
  const there = new Map<unknown, Message>()
  for (const one of [...current, ...update])
    if ('remove' in one) there.delete(one.remove)
    else there.set(one.id ?? one, one as Message)
  return [...there.values()]
}
