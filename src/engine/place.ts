import { encode, write } from '../durable/codec.ts'
import type { Calls } from './calls.ts'

/** How long that is, in milliseconds. */
export const PATIENCE = 250

/**
 * Waits as long as a record waits for its call before another call may count as it, since calls may come in another
 * order, and a cancel for what it has left word for. The one timer of ours that keeps a process: what it ends in must be
 * told.
 */
export function patience(over: () => void): () => void {
  const timer = setTimeout(over, PATIENCE)
  return () => clearTimeout(timer)
}

/**
 * The place of a child graph, a tool or a request without a key among those of its task: its position and what it is given. Those
 * that are called at once may come in another order when the node is entered again, so what they are given decides. One
 * that is given something new counts as the recorded one in its position, once that one has had the time to come.
 *
 * @param kind `c` for child graphs, `t` for tools, `g` for requests to models
 */
export async function placeOf(
  calls: Calls,
  kind: 'c' | 't' | 'g',
  called: string,
  given: unknown,
): Promise<string> {
  const { execution, id, used } = calls
  const group = `${kind}:`
  const n = calls.count(group)
  const name = `:${fingerprint(given)}:${called}`
  const { journal } = execution.step.level.run
  const left = (): string[] =>
    [...(journal.of(id)?.places.keys() ?? [])].filter(
      (place) => place.startsWith(group) && !used.has(place),
    )
  const fits = (place: string): boolean => place.slice(place.indexOf(':', 2)) === name
  const take = (place: string): string => {
    used.add(place)
    if (left().length === 0) calls.letGo(group)
    return place
  }
  const own = group + n + name
  const found = left().includes(own) ? own : left().find(fits)
  if (found !== undefined) return take(found)
  if (left().length > 0) {
    await new Promise((resolve) => calls.holdBack(group, resolve))
    const there = left().find(
      (place) => place.startsWith(`${group}${n}:`) && place.endsWith(`:${called}`),
    )
    if (there !== undefined) return take(there)
  }
  let free = n
  while ([...used, ...left()].some((place) => place.startsWith(`${group}${free}:`))) free++
  return take(group + free + name)
}

/** Tells what they are given apart, at once, as a digest couldn't. */
function fingerprint(input: unknown): string {
  let text = ''
  try {
    text = JSON.stringify(write(encode(input)))
  } catch {
    // What can't be stored may still become something by their schemas.
  }
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0xc2b2ae35) + a
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`
}
