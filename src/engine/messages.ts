import type { Checkpoint } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import { decode, read, type Cell } from '../durable/codec.ts'
import { logKey } from '../durable/keys.ts'
import { membersOf, messageIn } from '../durable/list.ts'
import { rowsOf, type LogRef } from '../durable/log.ts'
import { readRow } from '../durable/row.ts'
import type { Message } from '../model/message.ts'
import type { Key } from '../store/store.ts'
import { checkLimit } from './check.ts'
import { checkpointAt, look, readable, texts } from './find.ts'
import { shownOf, type Part } from './list.ts'
import type { App } from './run.ts'
import { stateOf } from './stored.ts'
import { snapshot } from './view.ts'

/**
 * The last messages of a thread, oldest first: those of the first field that holds any. What is read is the end of what
 * was done to them, as far as it takes.
 */
export async function messages(
  app: App,
  tenant: string,
  thread: string,
  { limit = 100, before }: Part = {},
): Promise<readonly Message[]> {
  checkLimit(limit)
  const name = app.plan.fields.find(({ kind }) => kind === 'messages')?.name
  if (name === undefined) return []
  const found = await look(app, tenant, thread, (claim) => {
    const id = claim.head.checkpoint
    const newest = async (): Promise<Message[]> => {
      const row = await checkpointAt(claim, '-', id)
      const last: Message[] = []
      for await (const one of shownOf(
        lastFirst(app, claim, row, name, limit),
        { limit, before } as Part,
        (message) => message,
        (message) => message.id,
      ))
        last.push(one)
      return last.toReversed()
    }
    return readable(thread, newest, id)
  })
  return found ?? []
}

/** The messages of a checkpoint, newest first, read as far as the reader goes: so many, as a rule. */
async function* lastFirst(
  app: App,
  claim: Claim,
  row: Checkpoint,
  name: string,
  many: number,
): AsyncGenerator<Message> {
  const { version = 1, state } = row
  const ref = state.m && Object.hasOwn(state.m, name) ? state.m[name] : undefined
  if (ref && version >= app.plan.version) return yield* unwound(done(claim, ref, many))
  // The graph has changed since.
  const today = snapshot(await stateOf(app.plan, row, claim, false))
  yield* (today[name] as Message[]).toReversed()
}

/** What was done to a list, the last of it first; so many updates are read at once, then twice as many. */
async function* done(claim: Claim, ref: LogRef, many: number): AsyncGenerator<Cell> {
  const rows = rowsOf(ref)
  for (let least = many; rows.length > 0; least *= 2) {
    const keys: Key[] = []
    for (let left = least; left > 0 && rows.length > 0;) {
      const [at, count] = rows.pop() as [number, number]
      keys.push(logKey(claim.root, ref[0], at, count))
      left -= count
    }
    for (const text of await texts(claim, keys, 'a row of its state'))
      for (const cell of Object.values(readRow<object>(text, 'a row of its state')).toReversed())
        yield read(cell)
  }
}

/** The messages that operations made, the last of both first. */
async function* unwound(operations: AsyncIterable<Cell>): AsyncGenerator<Message> {
  /** What came of messages that haven't come up yet; nothing of one that is gone. */
  const later = new Map<string, Cell | undefined>()
  for await (const cell of operations) {
    const { id, replace, remove } = membersOf(cell)
    const of = remove ?? replace?.id ?? id
    const own = remove === undefined ? messageIn(cell) : undefined
    const last = later.has(of) ? later.get(of) : own
    if (own === undefined || replace) later.set(of, last)
    else {
      later.delete(of)
      if (last !== undefined) yield decode(last) as Message
    }
  }
}
