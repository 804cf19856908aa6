import { decode, encode, same, type Cell } from '../durable/codec.ts'
import type { PlaceEntry } from '../durable/journal.ts'
import { ReplayMismatch } from '../errors.ts'
import type { AskOptions, PauseOptions } from '../graph/context.ts'
import type { Question } from '../graph/question.ts'
import { jsonSchemaOf } from '../lib/json-schema.ts'
import type { Schema, SchemaResult } from '../schema.ts'
import type { Calls } from './calls.ts'
import { refusal } from './refusal.ts'
import { checked, isPromise } from './take.ts'
import { LAST } from './wait.ts'

type Options = Partial<Omit<AskOptions<unknown>, 'is'>> & Partial<Pick<Question, 'is' | 'payload'>>

/** Asks a person, or gives the answer that is recorded. */
export function interrupt(
  calls: Calls,
  payload: unknown,
  options: PauseOptions | AskOptions<unknown> | Question = {},
): Promise<unknown> {
  const { execution } = calls
  const { key, schema, expires, is, payload: shape } = options as Options
  const node = execution.node.name
  const now = execution.step.level.run.app.owner.clock.now()
  const expiring = typeof expires === 'number' && expires > 0 && now + expires <= LAST
  if (expires !== undefined && !expiring) {
    throw new RangeError(
      `Cannot ask in node "${node}": expires is ${String(expires)}, not a positive number of milliseconds`,
    )
  }
  if (is && shape) {
    const result = shape['~standard'].validate(payload)
    const origin = { graph: execution.step.level.plan.name, node }
    const check = (late: SchemaResult<unknown>): void =>
      void checked(late, origin, `payload of question "${key}"`)
    // A schema that takes its time can't hold the question back: a bad payload fails the node all the same.
    if (isPromise(result)) result.then(check).catch((error: unknown) => execution.fail(error))
    else check(result)
  }
  const cell = encode(payload, node, 'payload')
  // A key given at the call names the call. A question's key names the question, which may be asked again.
  const named = key !== undefined && !is
  const group = key === undefined ? 'i:' : `${named ? 'I' : 'q'}${key.length}:${key}:`
  const n = calls.count(group)
  const fresh = (place: string): Promise<never> => {
    const due = expires === undefined ? undefined : Math.ceil(now + expires)
    return calls.pause({
      calls,
      place,
      kind: 'question',
      payload: cell,
      key,
      due,
      schema: jsonSchemaOf(schema),
    })
  }
  const records = new Map(recorded(calls, group))
  const own = records.get(group + n)
  const match = named ? own && group + n : matching(calls, records, group + n, cell)
  if (match !== undefined) {
    calls.used.add(match)
    wakeHeld(calls, group)
    const { entry } = records.get(match) as Recorded
    return entry === undefined ? calls.pause() : answerOf(calls, entry, schema)
  }
  const place = freePlace(calls, records, group, n)
  if (named || !answersLeft(calls, records)) return fresh(place)
  // It came too late to be waited for; it is asked when the node is entered again.
  if (execution.status === 'paused') return new Promise(() => {})
  return new Promise((_, reject) => {
    execution.busy++
    calls.holdBack(group, (how) => {
      execution.busy--
      if (how === 'new') fresh(freePlace(calls, records, group, n)).catch(reject)
      if (how !== 'late') return
      execution.fail(
        new ReplayMismatch(
          `Cannot go on with node "${node}": it asked something else before, and the answer to that fits no question it asks now`,
          { node, position: n, ...(key !== undefined && { key }) },
        ),
      )
    })
  })
}

type Recorded = { readonly entry?: PlaceEntry; readonly payload: Cell | undefined }

/** What is recorded of a group of calls of this task: answered questions and open ones. */
function* recorded(
  { execution, id: task }: Calls,
  group: string,
): Generator<[place: string, Recorded]> {
  const { run } = execution.step.level
  for (const [place, entry] of run.journal.of(task)?.places ?? []) {
    if (place.startsWith(group))
      yield [place, { entry, payload: run.records.get(entry.pause as string)?.payload }]
  }
  for (const { id, place } of run.openOf(task)) {
    if (place.startsWith(group)) yield [place, { payload: run.records.get(id)?.payload }]
  }
}

/** The recorded question that this call asks again: the one in its place, or any with the same payload. */
function matching(
  calls: Calls,
  records: ReadonlyMap<string, Recorded>,
  own: string,
  cell: Cell,
): string | undefined {
  const fits = (place: string): boolean => {
    const payload = records.get(place)?.payload
    return payload !== undefined && !calls.used.has(place) && same(payload, cell)
  }
  return fits(own) ? own : [...records.keys()].sort(byNumber).find(fits)
}

const byNumber = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1)

const answersLeft = (calls: Calls, records: ReadonlyMap<string, Recorded>): boolean =>
  [...records].some(([place, { entry }]) => entry !== undefined && !calls.used.has(place))

function freePlace(
  calls: Calls,
  records: ReadonlyMap<string, Recorded>,
  group: string,
  n: number,
): string {
  while (records.has(group + n) || calls.used.has(group + n)) n++
  return group + n
}

/** An answer has found its call: questions that were held back for its sake may be asked. */
function wakeHeld(calls: Calls, group: string): void {
  if (calls.held.length > 0 && !answersLeft(calls, new Map(recorded(calls, group))))
    calls.letGo(group)
}

/** The answer, checked. A bad one, or one that its schema breaks on, fails the run and the question stays open. */
export async function answerOf(
  calls: Calls,
  entry: PlaceEntry,
  schema: Schema | undefined,
): Promise<unknown> {
  const { execution } = calls
  const { kind, pause, value } = entry
  if (kind === 'expired')
    throw new DOMException(`The question of node "${execution.node.name}" expired`, 'TimeoutError')
  if (!schema) return decode(value)
  const { level } = execution.step
  let error: unknown
  try {
    const result = await schema['~standard'].validate(decode(value))
    if (!result.issues) return result.value
    error = refusal(result.issues, {
      graph: level.plan.name,
      node: execution.node.name,
      interruption: pause as string,
    })
  } catch (broken) {
    error = broken
  }
  level.run.reopen(calls, entry)
  execution.fail(error)
  return new Promise(() => {})
}
