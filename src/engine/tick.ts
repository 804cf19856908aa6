import { dueAfter, duePrefix, instantOf, part } from '../durable/keys.ts'
import { NothingToResume, ThreadBusy } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Entry } from '../store/store.ts'
import { dueIn, findAt } from './find.ts'
import { forget, rows } from './list.ts'
import { execute } from './live.ts'
import { checkLimit } from './check.ts'
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

type Done = Record<'woken' | 'recovered', string[]>

/** Continues what is due, earliest first, and recovers threads whose owner died. Index rows are hints: the head decides. */
export async function tick(
  app: App,
  {
    now = app.owner.clock.now(),
    limit = 100,
  }: { readonly now?: number; readonly limit?: number } = {},
): Promise<Ticked> {
  checkLimit(limit)
  if (!Number.isFinite(now))
    throw new RangeError(`Cannot tick: now is ${now}, not a number of milliseconds`)
  const prefix = duePrefix({ graph: await part(app.plan.name) })
  const done: Done = { woken: [], recovered: [] }
  const count = (): number => done.woken.length + done.recovered.length
  const seen = new Set<string>()
  let next: number | undefined
  for await (const row of rows(app, prefix)) {
    const at = instantOf(row.key)
    if (at > now || count() >= limit) {
      next = at
      break
    }
    const place = row.key.split('/')[3] as string
    if (!seen.has(place)) await proceed(app, place, row, now, done)
    seen.add(place)
  }
  if (count() > 0 && !(next !== undefined && next <= now)) {
    // What went on may wait again, and not for long.
    const [first] = await app.owner.store.list({ prefix, limit: 1, after: dueAfter(prefix, now) })
    next = first && instantOf(first.key)
  }
  return tidy<Ticked>({ ...done, next: next === undefined ? next : new Date(next) })
}

/** Continues one thread, if there is a reason. A row that says nothing any more is removed. */
async function proceed(
  app: App,
  place: string,
  row: Entry,
  now: number,
  done: Done,
): Promise<void> {
  const { key } = row
  let thread = place
  let how: keyof Done = 'woken'
  let claimed = false
  try {
    const head = (await findAt(app, place))?.head
    if (head) thread = head.thread
    if (head?.owner) how = 'recovered'
    if (head && (head.owner ? head.until <= now : dueIn(head, now).length > 0)) {
      const request = { thread, tenant: head.tenant, wake: now }
      await execute(new Run(app, {}), request, () => (claimed = true))
    } else {
      const what = key.split('/').at(-1)
      const valid =
        what === 'lease'
          ? head?.owner && instantOf(key) === head.until
          : head?.open.some(({ id }) => id === what)
      if (!valid) await forget(app, row, head)
    }
  } catch (error) {
    // A failure of the run is in its record; a claim that somebody else won is theirs.
    if (!(error instanceof ThreadBusy) && !(error instanceof NothingToResume))
      app.logger.warn('A thread could not go on by the clock', { thread, error })
  }
  if (claimed) done[how].push(thread)
}
