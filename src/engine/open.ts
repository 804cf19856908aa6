import { Claim } from '../durable/claim.ts'
import { encode, Tagged } from '../durable/codec.ts'
import { skipAhead, type Head } from '../durable/head.ts'
import { address, directoryKey, idempotencyKey, runKey } from '../durable/keys.ts'
import { hint, mint } from '../durable/owner.ts'
import { iso } from '../durable/pause.ts'
import type { Metadata } from '../durable/records.ts'
import type { RunStart } from '../durable/run-record.ts'
import { isHeddleError, RecoveryLimitExceeded, ResumeConflict, ThreadBusy } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import type { Key, Put } from '../store/store.ts'
import { settled } from './answers.ts'
import { find, owned } from './find.ts'
import { Level } from './level.ts'
import type { Opening } from './request.ts'
import { nothing, resume } from './resume.ts'
import type { App, Run } from './run.ts'
import { assertModel, knownModel } from './served.ts'
import { turn } from './turn.ts'
import { show, tell, tellNews } from './watch.ts'

/** How many owners may die in a row, none of which ends a step. */
const STRIKES = 3

/** What a claim brings along. */
export interface Admission {
  readonly puts: Put[]
  readonly deletes: Key[]
  /** Why the run fails as soon as it has the thread. */
  failure?: { readonly error: unknown }
  /** The run that this one continues. A turn has none, nor what a fork has made. */
  continues?: string | undefined
  /** How the thread stood, and which of its commits that was. */
  stood?: readonly [how: string, commits: number]
}

/**
 * Claims a thread for a run and brings its level to where it stands. Everything that can be refused is refused before the
 * claim; the claim and what it guards are one commit.
 *
 * @returns Begins the run, which is claimed by now; rejects if the way out of `start` failed
 */
export async function admit(run: Run, request: Opening): Promise<() => Promise<void>> {
  const admission: Admission = { puts: [], deletes: [] }
  const broken = await run.until(prepare(run, request, admission)).catch((error: unknown) => {
    // What can't be read may be what somebody faster has removed.
    if (run.claim && isHeddleError(error, 'corrupt_checkpoint')) return error
    throw error
  })
  if (run.stopped) throw run.stopped.reason
  const { claim } = run
  if (broken || !(await claim.take(admission))) {
    // A claim whose reply was lost may have won before it lost the thread: that is no refusal.
    const { error } = claim.failure ?? {}
    if ((error as Error | undefined)?.cause !== undefined) throw error
    const late = await overtaken(run, request, admission, broken as Error | undefined)
    if (late) throw late
    return admit(run, request)
  }
  claim.since = run.app.owner.clock.now()
  return async () => {
    const runs = !run.durable || !run.stopped
    if (!run.durable) claim.hold()
    else if (runs) {
      claim.head.status = 'running'
      await claim.commit()
    }
    if (runs) tell(run, tidy({ kind: 'run_start', continues: admission.continues }))
    if (runs) tellNews(run)
    if (runs) show(run, 'thinking')
    if (admission.failure) throw admission.failure.error
  }
}

/** Everything up to the claim: only reads, and what a request may be refused for. */
async function prepare(run: Run, request: Opening, admission: Admission): Promise<void> {
  const { app } = run
  const { thread, tenant = '', metadata } = request
  assertModel(run, thread)
  const found = await find(app, tenant, thread)
  const claim = (run.claim = found ?? (await newClaim(app, tenant, thread)))
  const { head } = claim
  admission.stood = [standing(head), head.commits]
  const level = (run.level = new Level(run, app.plan))
  if (owned(head, request.wake ?? app.owner.clock.now())) {
    const answered = await settled(claim, Object.keys(request.answers ?? {}))
    const asks = head.open.some(({ kind }) => kind === 'question')
    throw taken(request, head, answered.some(Boolean) || ('answer' in request && !asks))
  }
  run.tookOver = head.owner !== ''
  if (run.tookOver) {
    skipAhead(head, app.owner.clock.now())
    // Somebody who asks for it has seen what happened: the count is for what goes on by itself.
    head.strikes = request.wake === undefined ? 0 : head.strikes + 1
  }
  // Whoever cancelled it took it from its owner. A run that failed may have been torn from a commit.
  const torn = head.status === 'error' && !app.owner.store.caps.atomic
  run.shares = run.tookOver || head.status === 'cancelled' || torn
  if ('input' in request) await turn(run, level, request, admission)
  else if (found) await resume(run, level, request, admission)
  else throw nothing(thread, 'it does not exist')
  if (head.strikes >= STRIKES) admission.failure = { error: poisoned(run, level) }
  if (metadata) head.metadata = { ...head.metadata, ...metadataFrom(metadata, thread) }
  start(run, request, admission)
  if (request.idempotencyKey !== undefined) {
    const key = await idempotencyKey(claim.root, request.idempotencyKey)
    admission.puts.push({ key, value: JSON.stringify(run.id) })
    head.key = [key.slice(claim.root.length), run.id]
  }
  if (!found) admission.puts.push(listing(claim))
  head.seq = level.log.seq
}

/** A copy of what a caller gave: what they do to it later reaches nothing. */
export function metadataFrom(given: Metadata, thread: string): Metadata {
  const copy = encode(given, undefined, 'metadata')
  if (copy instanceof Tagged)
    throw new TypeError(`Cannot run thread "${thread}": its metadata holds what JSON can't`)
  return copy as Metadata
}

/** Why a thread isn't recovered any more. */
function poisoned({ claim, journal }: Run, { next }: Level): Error {
  const { thread, strikes: attempts } = claim.head
  const left = next.filter(({ task }) => !journal.of(task.id)?.result)
  const nodes = left.map(({ node, task }) => `"${node?.name ?? task.key}"`).join(', ')
  return new RecoveryLimitExceeded(
    `Cannot recover thread "${thread}": its process died ${attempts} times in a row, with ${nodes} next; mend that, then call run({ thread })`,
    { attempts },
  )
}

/** The row that lists a thread. */
export const listing = ({ at, head }: Claim): Put => ({
  key: directoryKey(at, head.created),
  value: hint(head),
})

/** The claim on a thread that does not exist yet. */
export async function newClaim(app: App, tenant: string, thread: string): Promise<Claim> {
  const at = await address(app.plan.name, tenant, thread)
  return new Claim(app.owner, at, newHead(app, tenant, thread), undefined)
}

/** Its head. Every member is there from the start: a step reads it often. */
function newHead({ plan, owner }: App, tenant: string, thread: string): Head {
  const counter = { last: 0 }
  const id = mint(counter, owner)
  return {
    graph: plan.name,
    tenant,
    thread,
    born: id,
    created: owner.clock.now(),
    epoch: 0,
    owner: '',
    run: '',
    runNumber: 0,
    root: '',
    strikes: 0,
    metadata: {},
    error: undefined,
    key: undefined,
    redo: undefined,
    updated: 0,
    until: 0,
    status: 'starting',
    checkpoint: '',
    journal: '',
    entries: [],
    open: [],
    last: counter.last,
    seq: 1,
    commits: 0,
    used: undefined,
    standing: undefined,
    usage: undefined,
  }
}

/** The run's record. */
function start(run: Run, request: Opening, admission: Admission): void {
  const { claim, app, id, user, durable } = run
  const { head } = claim
  const time = app.owner.clock.now()
  const isTurn = 'input' in request
  admission.continues = isTurn ? undefined : head.run || undefined
  const row: RunStart = {
    id,
    status: isTurn ? 'starting' : 'resuming',
    continues: admission.continues,
    root: isTurn ? id : head.root || id,
    user,
    metadata: request.metadata ?? {},
    time,
    seq: head.seq,
    llm: knownModel(run),
    before: head.usage,
  }
  head.usage = undefined
  head.status = durable ? row.status : 'running'
  head.run = id
  head.runNumber = head.last = Math.max(time, head.last + 1)
  head.root = row.root
  admission.puts.push({ key: runKey(claim.root, head.runNumber), value: JSON.stringify(row) })
}

/**
 * Why a run comes too late: somebody was faster between its look and its claim. If that was a prune there is no reason.
 *
 * @param broken What a look found, which stands if nobody has touched the thread since
 */
async function overtaken(
  { app, claim }: Run,
  request: Opening,
  { stood: [how, commits] = ['', 0] }: Admission,
  broken?: Error,
): Promise<Error | undefined> {
  const { tenant, thread } = claim.head
  const now = (await find(app, tenant, thread))?.head
  const same = now !== undefined && standing(now) === how
  if (same && now.commits === commits && broken) return broken
  if (same && now.commits !== commits) return undefined
  if (!now && !('input' in request)) return nothing(thread, 'it does not exist any more')
  return taken(request, now, 'answer' in request || 'answers' in request)
}

/** What of a thread changes with whatever is done to it, but for a prune. */
const standing = ({ born, owner, run, status, checkpoint, open }: Head): string =>
  JSON.stringify([born, owner, run, status, checkpoint, open])

/** Why a thread can't be had: another run has it, or what the request answers was answered by others. */
function taken({ thread }: Opening, head: Head | undefined, answered: boolean): Error {
  if (answered) {
    return new ResumeConflict(
      `Cannot answer thread "${thread}": somebody else has answered or woken it first`,
      { thread },
    )
  }
  return busy('run', thread, head)
}

/** Says that a run has a thread, and for how long at least. */
export function busy(verb: string, thread: string, head: Head | undefined): ThreadBusy {
  const until = head?.owner ? iso(head.until) : undefined
  return new ThreadBusy(
    `Cannot ${verb} thread "${thread}": another run has taken it${until ? `, until ${until} at least` : ''}`,
    tidy({ thread, until }),
  )
}
