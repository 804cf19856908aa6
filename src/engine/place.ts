import { encode, write } from '../durable/codec.ts'
import type { Plan } from '../graph/plan.ts'
import type { Execution } from './execution.ts'

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
 * The place of a child graph without a key among those of its task: its position and what it is given. Children that are
 * called at once may come in another order when the node is entered again, so what they are given decides. One that is
 * given something new counts as the recorded one in its position, once that one has had the time to come.
 */
export async function placeOfChild(
  { calls, task, step }: Execution,
  plan: Plan,
  input: unknown,
): Promise<string> {
  const n = calls.count('c')
  const name = `:${fingerprint(input)}:${plan.name}`
  const { journal } = step.level.run
  const left = (): string[] =>
    [...(journal.of(task.id)?.places.keys() ?? [])].filter(
      (place) => place.startsWith('c:') && !calls.used.has(place),
    )
  const given = (place: string): boolean => place.slice(place.indexOf(':', 2)) === name
  const take = (place: string): string => {
    calls.used.add(place)
    if (left().length === 0) calls.letGo('c')
    return place
  }
  const own = `c:${n}${name}`
  const found = left().includes(own) ? own : left().find(given)
  if (found !== undefined) return take(found)
  if (left().length > 0) {
    await new Promise((resolve) => calls.holdBack('c', resolve))
    const there = left().find(
      (place) => place.startsWith(`c:${n}:`) && place.endsWith(`:${plan.name}`),
    )
    if (there !== undefined) return take(there)
  }
  let free = n
  while ([...calls.used, ...left()].some((place) => place.startsWith(`c:${free}:`))) free++
  return take(`c:${free}${name}`)
}

/** Tells what children are given apart, at once, as a digest couldn't. */
function fingerprint(input: unknown): string {
  let text = ''
  try {
    text = JSON.stringify(write(encode(input)))
  } catch {
    // What can't be stored may still become something by the child's schemas.
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
