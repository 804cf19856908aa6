import type { Claim } from '../durable/claim.ts'
import { directoryPrefix, inboxPrefix, pauseKey, pausePrefix } from '../durable/keys.ts'
import {
  interruption,
  readPause,
  readSettlement,
  type PauseRecord,
  type Settlement,
} from '../durable/pause.ts'
import type { Interruption } from '../durable/records.ts'
import type { Entry } from '../store/store.ts'
import { look, readable } from './find.ts'
import { forget, listsOf, passing, placeIn, rows } from './list.ts'
import { checkLimit } from './check.ts'
import type { App } from './run.ts'

type Question = readonly [n: number, shown: Interruption]

/** Questions of one thread or of all, oldest first. */
export async function interruptions(
  app: App,
  tenant: string,
  {
    thread,
    status = 'open',
    limit = 100,
  }: {
    readonly thread?: string
    readonly status?: Interruption['status']
    readonly limit?: number
  } = {},
): Promise<readonly Interruption[]> {
  checkLimit(limit)
  const found: Question[] = []
  const add = async (claim: Claim, only?: readonly string[]): Promise<void> => {
    found.push(...(await questions(app, claim, status, only)))
  }
  if (thread !== undefined) {
    await look(app, tenant, thread, add)
  } else if (status === 'open') {
    // Index rows are hints: whether a question is open stands in the head, which is read once for many of its rows.
    const hints = new Map<string, Entry[]>()
    const readAll = async (): Promise<void> => {
      for (const [place, of] of hints) {
        const show = async (claim?: Claim): Promise<void> => {
          const open = new Set(claim?.head.open.map(({ id }) => id))
          if (claim) await add(claim, of.map(idIn))
          for (const row of of) if (!open.has(idIn(row))) await forget(app, row, claim?.head)
        }
        await passing(app, place, show, show)
      }
      hints.clear()
    }
    let left = limit
    for await (const row of rows(app, inboxPrefix(await listsOf(app, tenant)))) {
      if (left <= 0) {
        await readAll()
        left = limit - found.length
        if (left <= 0) break
      }
      const place = row.key.split('/').at(-2) as string
      const of = hints.get(place)
      if (of) of.push(row)
      else hints.set(place, [row])
      left--
    }
    await readAll()
  } else {
    for await (const row of rows(app, directoryPrefix(await listsOf(app, tenant))))
      await passing(app, placeIn(row), add)
  }
  return found
    .sort(([a], [b]) => a - b)
    .slice(0, limit)
    .map(([, shown]) => shown)
}

/** The question that a row of the inbox is about. */
const idIn = ({ key }: Entry): string => key.slice(key.lastIndexOf('/') + 1)

/** The questions of a thread that have a status, or some of them. */
function questions(
  app: App,
  claim: Claim,
  status: Interruption['status'],
  only?: readonly string[],
): Promise<Question[]> {
  const { head, root } = claim
  const prefix = pausePrefix(root)
  return readable(head.thread, async () => {
    const open = new Set(head.open.map(({ id }) => id))
    const asked: PauseRecord[] = []
    const ends = new Map<string, Settlement>()
    if (status === 'open') {
      const ids = only?.filter((id) => open.has(id)) ?? [...open]
      for (const row of await claim.get(ids.map((id) => pauseKey(root, id))))
        if (row) asked.push(readPause(row.value))
    } else {
      for await (const { key, value } of rows(app, prefix))
        if (key.endsWith('.a')) ends.set(key.slice(prefix.length, -2), readSettlement(value))
        else asked.push(readPause(value))
    }
    const now = app.owner.clock.now()
    return asked.flatMap((record): Question[] => {
      const { id, n, kind } = record
      if (kind !== 'question') return []
      const shown = interruption(
        head.thread,
        record,
        open.has(id) ? undefined : ends.get(id),
        now,
        !open.has(id),
      )
      return shown.status === status ? [[n, shown]] : []
    })
  })
}
