import { ToolUsageError } from '../errors.ts'
import type { Logger } from '../lib/logger.ts'
import { quietly } from '../lib/quietly.ts'

/** Owns things that must be closed together: one call, one request, one Durable Object, one process. */
export interface Scope {
  readonly signal: AbortSignal
  /** Runs when the scope ends, last in first out; one that throws is logged and the rest still run. `ToolUsageError` on a scope that has ended. */
  defer(close: () => void | Promise<void>): void
}

/** One thing that is closed with a scope. */
export interface Closer {
  close(): unknown
  /** A value of `scopeLocal`: `closeScope` closes it, too. */
  readonly local?: true
  /** It is being closed, or has been. */
  done?: Promise<void>
}

/** What stands behind a scope: what it holds, and how it ends. */
export interface Room {
  readonly scope: Scope
  readonly logger: Logger
  readonly closers: Set<Closer>
  /** Nothing new is taken; set before the first thing is closed. */
  ended: boolean
  /** The same scope for one piece of work, with a signal of its own. */
  view(signal: AbortSignal): Scope
  /** Ends the scope: closes what it holds, newest first. Never rejects. */
  close(): Promise<void>
}

const ROOM: unique symbol = /* @__PURE__ */ Symbol.for('heddle.scope') as never

/**
 * Opens a scope. Whoever does must close it.
 *
 * @param signal The scope's; whoever opens it aborts it
 */
export function openScope(signal: AbortSignal, logger: Logger): Room {
  const view = (own: AbortSignal): Scope => ({
    signal: own,
    defer(close) {
      if (typeof close !== 'function') throw new TypeError('Cannot defer: it takes a function')
      hold(room, { close })
    },
    ...{ [ROOM]: room },
  })
  const room: Room = {
    logger,
    closers: new Set(),
    ended: false,
    view,
    get scope() {
      return scope
    },
    close() {
      room.ended = true
      return shutAll(room, () => true)
    },
  }
  const scope = view(signal)
  return room
}

/**
 * What stands behind a scope.
 *
 * @throws ToolUsageError when it is no scope, or one of another request: on Workers nothing of it would work here
 */
export function roomOf(scope: Scope): Room {
  const room = (scope as { readonly [ROOM]?: Room } | null)?.[ROOM]
  if (!room) throw new ToolUsageError('Cannot use a scope: this is none of heddle', {})
  if (!readable(room.scope.signal))
    throw new ToolUsageError(
      'Cannot use a scope: it belongs to another request. Make one per request, or per Durable Object',
      {},
    )
  return room
}

/** Whether a signal is of this request: Workers let it be read in the request, or the Durable Object, that made it only. */
export function readable(signal: AbortSignal): boolean {
  return quietly(() => signal.aborted) !== undefined
}

/** Takes something in, to be closed with the scope. */
export function hold(room: Room, closer: Closer): void {
  takes(roomOf(room.scope))
  room.closers.add(closer)
}

/** Refuses a scope that has ended. */
export function takes(room: Room): void {
  if (room.ended) throw new ToolUsageError('Cannot use a scope: it has ended', {})
}

/** Closes one thing, once. */
export async function shut(room: Room, closer: Closer): Promise<void> {
  try {
    await (closer.done ??= (async () => void (await closer.close()))())
  } finally {
    room.closers.delete(closer)
  }
}

/** Closes what is chosen, newest first; what fails is logged. */
export async function shutAll(room: Room, which: (closer: Closer) => boolean): Promise<void> {
  for (const closer of [...room.closers].toReversed()) {
    if (!which(closer)) continue
    try {
      await shut(room, closer)
    } catch (error) {
      room.logger.error('Something failed to close with its scope', { error })
    }
  }
}
