import type { Head } from '../durable/head.ts'
import { dueAfter, duePrefix, instantOf, part } from '../durable/keys.ts'
import { isHeddleError } from '../errors.ts'
import type { Entry, Key } from '../store/store.ts'
import { execute } from './live.ts'
import { find, hinted, owned } from './open.ts'
import { checkLimit } from './request.ts'
import { Run, type App } from './run.ts'

/** What a tick did. */
export interface Ticked {
  /** Threads whose waits were due. */
  readonly woken: readonly string[]
  /** Threads whose owner had died. */
  readonly recovered: readonly string[]
  /** When to come again. */
  readonly next?: Date
}

/** Continues what is due, earliest first, and recovers threads whose owner died. Index rows are hints: the head decides. */
export async function tick(
  app: App,
  {
    now = app.owner.clock.now(),
    limit = 100,
  }: { readonly now?: number; readonly limit?: number } = {},
): Promise<Ticked> {
  checkLimit(limit)
  for (const [name, value] of Object.entries({ now, limit })) {
    if (typeof value !== 'number' || Number.isNaN(value) || (name === 'now' && !isFinite(value)))
      throw new RangeError(`Cannot tick: ${name} is ${String(value)}, not a number`)
  }
  const { store } = app.owner
  const prefix = duePrefix({ graph: await part(app.plan.name) })
  const woken: string[] = []
  const recovered: string[] = []
  const seen = new Set<string>()
  let next: number | undefined
  for (let after: Key | undefined; next === undefined;) {
    const page = await store.list({ prefix, limit: 100, ...(after !== undefined && { after }) })
    for (const row of page) {
      const { key, value } = row
      const at = instantOf(key)
      if (at > now || woken.length + recovered.length >= limit) {
        next = at
        break
      }
      const place = key.split('/')[3] as string
      if (seen.has(place)) continue
      seen.add(place)
      const names = await hinted(app, place, value)
      if (!names) {
        app.logger.warn('A row of what is due leads to no thread that can be read', { key })
        continue
      }
      const [tenant, thread] = names
      const how = await proceed(app, tenant, thread, row, now)
      if (how === 'woken') woken.push(thread)
      if (how === 'recovered') recovered.push(thread)
    }
    if (page.length < 100) break
    after = page.at(-1)?.key
  }
  if (woken.length + recovered.length > 0 && !(next !== undefined && next <= now)) {
    // What went on may wait again, and not for long.
    const [first] = await store.list({ prefix, limit: 1, after: dueAfter(prefix, now) })
    next = first && instantOf(first.key)
  }
  return { woken, recovered, ...(next !== undefined && { next: new Date(next) }) }
}

/** Continues one thread, if there is a reason. A row that says nothing any more is removed. */
async function proceed(
  app: App,
  tenant: string,
  thread: string,
  { key, revision }: Entry,
  now: number,
): Promise<'woken' | 'recovered' | undefined> {
  const { owner, logger } = app
  const trouble = (error: unknown): undefined =>
    logger.warn('A thread could not go on by the clock', { thread, error }) as undefined
  let head: Head | undefined
  try {
    ;({ head } = await find(app, thread, tenant))
  } catch (error) {
    return trouble(error)
  }
  const dead = head !== undefined && head.owner !== '' && !owned(head, now)
  const due =
    head?.owner === '' && head.open.some((open) => open.due !== undefined && open.due <= now)
  if (!dead && !due) {
    const row = key.split('/').at(-1)
    const valid =
      head &&
      (row === 'lease'
        ? head.owner !== '' && instantOf(key) === head.until
        : head.open.some(({ id }) => id === row))
    // Where reads may lag, what isn't seen proves nothing.
    if (!valid && owner.store.caps.consistency === 'strong')
      await owner.store.commit({ checks: [{ key, revision }], deletes: [key] })
    return undefined
  }
  let claimed = false
  try {
    await execute(new Run(app, {}), { thread, tenant, wake: now }, () => (claimed = true))
  } catch (error) {
    // A failure of the run is in its record; a claim that somebody else won is theirs.
    if (isHeddleError(error, 'thread_busy') || isHeddleError(error, 'nothing_to_resume'))
      return undefined
    trouble(error)
    if (!claimed) return undefined
  }
  return dead ? 'recovered' : 'woken'
}
