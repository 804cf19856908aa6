import { notCut } from '../durable/checkpoint.ts'
import type { Claim } from '../durable/claim.ts'
import { decode, encode, type Cell } from '../durable/codec.ts'
import type { OpenPause } from '../durable/head.ts'
import { pauseKey } from '../durable/keys.ts'
import { readPause, type PauseRecord } from '../durable/pause.ts'
import { AmbiguousResume, NothingToResume, UnknownInterruption } from '../errors.ts'
import type { Issue } from '../schema.ts'
import { approvalIssues, inArgs, isApproval } from './approval.ts'
import { checkpointAt, readable, records } from './find.ts'
import type { Opening } from './request.ts'
import type { App, Run } from './run.ts'
import { refusal } from './refusal.ts'

/** An open pause and the answer that came for it; without one, its time has come. */
export interface Came {
  readonly open: OpenPause
  readonly answer?: Cell
}

/**
 * Which open pauses a request answers. The ids decide, never the shape of an answer; one that is wrong refuses all.
 *
 * @param elsewhere The request goes on from another checkpoint, where nothing of this is open
 */
export async function chosen(
  { claim, app }: Run,
  request: Opening,
  elsewhere: boolean,
): Promise<Came[]> {
  if (!('answer' in request || 'answers' in request)) return []
  const { thread } = claim.head
  const { plan, owner } = app
  const now = owner.clock.now()
  const held = elsewhere ? [] : claim.head.open
  // An expired question waits for the clock only.
  const open = held.filter(({ kind, due = Infinity }) => kind === 'timer' || due > now)
  const given: (readonly [id: string, answer: unknown])[] =
    'answer' in request
      ? [[bare(thread, open), request.answer]]
      : Object.entries(request.answers as object)
  const ids = given.map(([id]) => id)
  const unknown = ids.filter((id) => !open.some((one) => one.id === id))
  if (unknown.length > 0) throw await stranger(claim, unknown, held)
  return Promise.all(
    open
      .filter(({ id }) => ids.includes(id))
      .map(async (pause) => {
        const { id, place, key = '' } = pause
        const answer = given.find(([one]) => one === id)?.[1]
        const cell = encode(answer, undefined, 'answer')
        // A question that the graph lists is checked before anything runs, and an approval. A key given at the call makes none.
        const question = place.startsWith('q') ? plan.questions.get(key) : undefined
        const { issues } = isApproval(pause)
          ? await approvalResult(app, claim, pause, decode(cell))
          : ((await question?.schema['~standard'].validate(answer)) ?? {})
        if (issues) throw refusal(issues, { graph: plan.name, interruption: id })
        return { open: pause, answer: cell }
      }),
  )
}

/** What is wrong with an answer to an approval. Edited arguments have to fit the tool, if the app knows it. */
async function approvalResult(
  { tools }: App,
  claim: Claim,
  { id }: OpenPause,
  answer: unknown,
): Promise<{ readonly issues?: readonly Issue[] | undefined }> {
  const issues = approvalIssues(answer)
  if (issues) return { issues }
  const { args } = answer as { readonly args?: unknown }
  if (args === undefined) return {}
  const { thread } = claim.head
  const [record] = await readable(thread, () => records(claim, [id]), claim.head.checkpoint)
  const { tool } = decode((record as PauseRecord).payload) as { readonly tool: string }
  const result = await tools.get(tool)?.input['~standard'].validate(args)
  return { issues: result?.issues?.map(inArgs) }
}

/** The one open question. */
function bare(thread: string, open: readonly OpenPause[]): string {
  const [id, ...more] = open.flatMap((one) => (one.kind === 'question' ? [one.id] : []))
  if (id === undefined)
    throw new NothingToResume(`Cannot answer thread "${thread}": no question is open`, { thread })
  const interruptions = [id, ...more]
  if (more.length > 0) {
    throw new AmbiguousResume(
      `Cannot answer thread "${thread}": ${interruptions.join(', ')} are open; answer by id`,
      { thread, interruptions },
    )
  }
  return id
}

/** Why ids can't be answered: they were before, or nobody asked them here. */
async function stranger(
  claim: Claim,
  interruptions: readonly string[],
  open: readonly OpenPause[],
): Promise<Error> {
  const { thread } = claim.head
  const cannot = `Cannot answer "${interruptions.join('", "')}": `
  const left = await leftBehind(claim, interruptions)
  if (!left && open.length === 0)
    return new NothingToResume(`${cannot}nothing is open on thread "${thread}"`, { thread })
  if (!left && (await settled(claim, interruptions)).every(Boolean))
    return new NothingToResume(`${cannot}it has been answered`, { thread })
  return new UnknownInterruption(`${cannot}no such question is open on thread "${thread}"`, {
    thread,
    interruptions,
  })
}

const isOurs = (id: string): boolean => /^[a-z]+_[0-9a-f]{32}$/.test(id)

/** What is known of the ends of pauses. Ids that are none of ours have none. */
export async function settled(claim: Claim, ids: readonly string[]): Promise<readonly unknown[]> {
  const ours = ids.length > 0 && ids.every(isOurs)
  return ours ? claim.get(ids.map((id) => `${pauseKey(claim.root, id)}.a`)) : [undefined]
}

/** Whether one of these was asked on a line that a branch has left. */
function leftBehind(claim: Claim, ids: readonly string[]): Promise<boolean> {
  const { root, head } = claim
  return readable(
    head.thread,
    async () => {
      const { cuts = [] } = await checkpointAt(claim, '-', head.checkpoint)
      const asked = cuts.length > 0 ? ids.filter(isOurs) : []
      const rows = await claim.get(asked.map((id) => pauseKey(root, id)))
      return !rows.every((row) => !row || notCut(cuts)(readPause(row.value)))
    },
    head.checkpoint,
  )
}
