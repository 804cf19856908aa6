import type { Key } from 'heddle'
import { journalRows } from '../../src/durable/journal.ts'
import { checkpointIn, dueKey, inboxKey, logKey, toldBy } from '../../src/durable/keys.ts'
import { rowsOf } from '../../src/durable/log.ts'
import { refsOf } from '../../src/durable/reach.ts'
import type { Truth } from './truth.ts'

const SPACE = /\/c\/([^/]+)\/[^/]+$/

/** What must be true of the rows of a thread whenever nobody is at it. Each that isn't comes back as a sentence. */
export function* broken(truth: Truth, atomic: boolean): Generator<string> {
  const { head, rows, root } = truth
  if (!head) return
  yield* history(truth, atomic)
  yield* indexes(truth, atomic)
  // Where a batch can be torn, rows may lie about that nothing leads to.
  if (!atomic) return
  const within = [...rows.keys()].filter((key) => key.startsWith(root))
  const known = reachable(truth)
  for (const key of within) if (!known.has(key)) yield `row ${key} is an orphan: ${rows.get(key)}`
  yield* records(truth, within)
}

/** The checkpoints of the thread are a tree with the head on one leaf, and the others are those that were left. */
function* history(truth: Truth, atomic: boolean): Generator<string> {
  const { checkpoints, rows, root, head, left } = truth
  const parents = new Set<string>()
  const own = new Set<string>()
  for (const key of rows.keys()) {
    if (!key.startsWith(`${root}c/`)) continue
    const id = checkpointIn(key)
    if (SPACE.exec(key)?.[1] === '-') own.add(id)
  }
  for (const id of own) {
    const { parent } = checkpoints.get(id)!
    if (parent === undefined) continue
    parents.add(parent)
    if (!own.has(parent)) yield `checkpoint ${id} has no parent: ${parent} is not there`
  }
  if (head && !own.has(head.checkpoint) && !head.redo)
    yield `the head stands on ${head.checkpoint}, not there`
  const roots = [...own].filter((id) => checkpoints.get(id)!.parent === undefined)
  if (roots.length > 1) yield `history begins more than once: ${roots.join(', ')}`
  const leaves = [...own].filter((id) => !parents.has(id))
  for (const leaf of atomic ? leaves : [])
    if (leaf !== head?.checkpoint && !left.has(leaf)) yield `branch ${leaf} has no head`
}

/** Index rows say what the head says, no more and no less. */
function* indexes({ head, rows }: Truth, atomic: boolean): Generator<string> {
  if (!head) return
  const at = { graph: head.graph, tenant: '~e', place: `~e.${head.thread}` }
  const due = new Set<Key>()
  const asked = new Set<Key>()
  if (head.owner) due.add(dueKey(at, head.until, 'lease'))
  for (const { id, n, kind, due: instant } of head.open) {
    if (instant !== undefined) due.add(dueKey(at, instant, id))
    if (kind === 'question') asked.add(inboxKey(at, n, id))
  }
  const carried = new Set(head.redo?.map(([key]) => key))
  for (const key of [...due, ...asked])
    if (!rows.has(key) && !carried.has(key)) yield `index row ${key} is missing`
  if (![...rows.keys()].some((key) => key.startsWith('n/')) && !head.redo)
    yield 'the thread is not in the directory'
  if (!atomic) return
  for (const key of rows.keys())
    if ((key.startsWith('d/') && !due.has(key)) || (key.startsWith('o/') && !asked.has(key)))
      yield `index row ${key} says what isn't so`
}

/** Everything that the head, history and records lead to. */
function reachable({ head, rows, root, checkpoints }: Truth): ReadonlySet<Key> {
  const known = new Set<Key>(head ? journalRows({ root, head }) : [])
  const spaces = new Set(['-'])
  for (const [key, text] of rows) {
    if (!key.startsWith(`${root}b/`)) continue
    known.add(key)
    spaces.add(text)
  }
  for (const key of rows.keys()) {
    const [, space] = SPACE.exec(key) ?? []
    if (space === undefined || !spaces.has(space)) continue
    known.add(key)
    for (const ref of refsOf(checkpoints.get(checkpointIn(key))!.state))
      // A generation's rows that are written as one later are there for checkpoints before.
      for (let updates = 1; updates <= ref[1]; updates++)
        for (const [from, count] of rowsOf([ref[0], updates]))
          known.add(logKey(root, ref[0], from, count))
  }
  for (const key of rows.keys()) {
    if (!key.startsWith(root)) continue
    const [kind, space = ''] = key.slice(root.length).split('/')
    if (kind === 'r' || kind === 'i' || (kind === 'e' && spaces.has(space))) known.add(key)
    // Where children stood when a task first paused: of the steps of any checkpoint.
    if (kind === 'f' && checkpoints.has(space.split('~')[0] as string)) known.add(key)
  }
  return known
}

/** Records come together: what ended, or was served by a model, began. */
function* records({ head, rows, root }: Truth, within: readonly Key[]): Generator<string> {
  const open = new Set(head?.open.map(({ id }) => id))
  let runs = 0
  let ended = 0
  for (const key of within) {
    if (key.startsWith(`${root}r/`)) {
      const told = toldBy(key)
      if (told === 'end') ended++
      if (told === 'start') runs++
      else if (!rows.has(key.slice(0, key.lastIndexOf('.')))) yield `${key} is of no run`
    }
    if (!key.startsWith(`${root}i/`)) continue
    if (key.endsWith('.a')) {
      const id = key.slice(`${root}i/`.length, -2)
      if (!rows.has(key.slice(0, -2))) yield `${key} settles what nobody asked`
      if (open.has(id)) yield `pause ${id} is open and settled`
    } else if (!rows.has(`${key}.a`) && !open.has(key.slice(`${root}i/`.length)))
      yield `pause ${key} is neither open nor settled`
  }
  if (head && !head.owner && runs > 0 && ended === 0) yield 'no run has an end'
}
