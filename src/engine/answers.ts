import { encode, type Cell } from '../durable/codec.ts'
import type { OpenPause } from '../durable/head.ts'
import { pauseKey } from '../durable/keys.ts'
import { AmbiguousResume, NothingToResume, UnknownInterruption } from '../errors.ts'
import type { Opening } from './open.ts'
import type { Run } from './run.ts'
import { refusal } from './take.ts'

/** An open pause and what was given for it. */
export interface Chosen {
  readonly open: OpenPause
  readonly cell: Cell
}

/**
 * Which open pauses a request answers. The ids decide, never the shape of an answer; one that is wrong refuses all.
 *
 * @param elsewhere The request goes on from another checkpoint, where nothing of this is open
 */
export async function chosen(run: Run, request: Opening, elsewhere: boolean): Promise<Chosen[]> {
  const { head } = run.claim
  const { thread } = head
  const now = run.app.owner.clock.now()
  // An expired question waits for the clock only.
  const open = elsewhere
    ? []
    : head.open.filter(({ kind, due = Infinity }) => kind === 'timer' || due > now)
  const given =
    'answer' in request
      ? [[bare(thread, open), request.answer] as const]
      : Object.entries(request.answers as object)
  const unknown: string[] = []
  const answers: Chosen[] = []
  for (const [id, answer] of given) {
    const pause = open.find((one) => one.id === id)
    if (!pause) unknown.push(id)
    else answers.push({ open: pause, cell: encode(answer, undefined, 'answer') })
  }
  if (unknown.length > 0) throw await stranger(run, unknown, elsewhere ? [] : head.open)
  for (const { open: pause } of answers)
    await check(run, pause, given.find(([id]) => id === pause.id)?.[1])
  return answers
}

/** The one open question. */
function bare(thread: string, open: readonly OpenPause[]): string {
  const questions = open.filter(({ kind }) => kind === 'question').map(({ id }) => id)
  if (questions.length === 0)
    throw new NothingToResume(`Cannot answer thread "${thread}": no question is open`, { thread })
  if (questions.length > 1) {
    throw new AmbiguousResume(
      `Cannot answer thread "${thread}": ${questions.length} questions are open (${questions.join(', ')}); answer by id`,
      { thread, interruptions: questions },
    )
  }
  return questions[0] as string
}

/** Why an id can't be answered: it was before, or nobody asked it here. */
async function stranger(
  { claim }: Run,
  ids: readonly string[],
  open: readonly OpenPause[],
): Promise<Error> {
  const { thread } = claim.head
  const ours = ids.every((id) => /^[a-z]+_[0-9a-f]{32}$/.test(id))
  const settled = ours
    ? await claim.get(ids.map((id) => `${pauseKey(claim.root, id)}.a`))
    : [undefined]
  const list = ids.map((id) => `"${id}"`).join(', ')
  if (open.length === 0 || settled.every(Boolean))
    return new NothingToResume(
      `Cannot answer ${list}: ${open.length === 0 ? `nothing is open on thread "${thread}"` : 'it has been answered'}`,
      { thread },
    )
  return new UnknownInterruption(
    `Cannot answer ${list}: no such question is open on thread "${thread}"`,
    { thread, interruptions: ids },
  )
}

/** Answers to questions that the graph lists are checked before anything runs. */
async function check({ app }: Run, { id, place, key }: OpenPause, answer: unknown): Promise<void> {
  // A key given at the call makes no declared question.
  const question =
    key !== undefined && place.startsWith('q') ? app.plan.questions.get(key) : undefined
  const result = await question?.schema['~standard'].validate(answer)
  if (result?.issues) throw refusal(result.issues, { graph: app.plan.name, interruption: id })
}
