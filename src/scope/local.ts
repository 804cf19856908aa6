import { ToolUsageError } from '../errors.ts'
import { call, check } from '../lib/check.ts'
import { quietly } from '../lib/quietly.ts'
import { currentScope } from './frame.ts'
import { hold, roomOf, shut, shutAll, takes, type Closer, type Room, type Scope } from './scope.ts'

/** One value per scope, made on first use and closed with the scope. */
export interface ScopeLocal<Value> {
  /**
   * The value of a scope. Without an argument: of the current one, known in the synchronous part of scoped work, and after an
   * await where the platform has AsyncLocalStorage.
   *
   * @throws ToolUsageError where no scope is known, when it has ended, and on Workers when it belongs to another request
   */
  get(scope?: Scope): Value
  /** Forgets the value of a scope, then closes it; rejects if that fails. The next `get` makes a new one. */
  close(scope?: Scope): Promise<void>
}

export interface ScopeLocalOptions<Value> {
  /** Closes a value; one that is a promise is awaited first. */
  readonly close?: (value: Awaited<Value>) => void | Promise<void>
}

interface Held<Value> extends Closer {
  readonly value: Value
}

/**
 * Keeps one value per scope, such as a client.
 *
 * @param make Makes the value, which may be a promise; one that throws or rejects is asked again next time. The scope that it
 * gets lives as long as the value
 * @throws TypeError for options that aren't known, or a `close` that is no function
 */
export function scopeLocal<Value>(
  make: (scope: Scope) => Value,
  options: ScopeLocalOptions<Value> = {},
): ScopeLocal<Value> {
  check('Cannot make a scopeLocal', { close: call }, options)
  const values = new WeakMap<Room, Held<Value>>()
  const of = (room: Room): Held<Value> | undefined => {
    const held = values.get(room)
    return held && !held.done && room.closers.has(held) ? held : undefined
  }

  function build(room: Room): Value {
    takes(room)
    const value = make(room.scope)
    const held: Held<Value> = {
      value,
      local: true,
      async close() {
        for (const one of made ? await made : [value]) await options.close?.(one as Awaited<Value>)
      },
    }
    hold(room, held)
    values.set(room, held)
    // Awaited here, ahead of whoever asked for it: a failed one is forgotten by then.
    const made = isThenable(value)
      ? settled(value, () => void room.closers.delete(held))
      : undefined
    return value
  }

  return {
    get(scope) {
      const room = find(scope)
      const held = of(room)
      return held ? held.value : build(room)
    },
    async close(scope) {
      const room = find(scope)
      const held = of(room)
      if (held) await shut(room, held)
    },
  }
}

/** Closes every value of a scope, newest first; one that fails to close is logged and the rest still close. What was deferred waits for the scope's end. */
export async function closeScope(scope: Scope): Promise<void> {
  await shutAll(roomOf(scope), ({ local }) => local === true)
}

/** Whether something is a promise of any kind or realm. What can't be looked at is none. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return quietly(() => typeof (Object(value) as { readonly then?: unknown }).then) === 'function'
}

/** What came of a promise, in a list; nothing if it rejects: whoever asked for it knows. */
async function settled(
  value: PromiseLike<unknown>,
  failed: () => void,
): Promise<readonly unknown[]> {
  try {
    return [await value]
  } catch {
    failed()
    return []
  }
}

function find(scope: Scope | undefined): Room {
  const known = scope ?? currentScope()
  if (known === undefined)
    throw new ToolUsageError('Cannot find the current scope: none is known here. Pass scope on', {})
  return roomOf(known)
}
