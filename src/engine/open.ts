import { Claim, mint } from '../durable/claim.ts'
import { encode, Tagged, Unreadable, type Cell } from '../durable/codec.ts'
import { readHead, type Head, type OpenPause } from '../durable/head.ts'
import { Journal, readEntry, type Entry } from '../durable/journal.ts'
import {
  address,
  directoryKey,
  headKey,
  journalKey,
  pauseKey,
  rootPrefix,
  runKey,
  type Address,
} from '../durable/keys.ts'
import { iso, readPause, settlementText, type PauseRecord } from '../durable/pause.ts'
import { isTexts, readRow } from '../durable/row.ts'
import type { RunStart } from '../durable/run-record.ts'
import {
  CorruptCheckpoint,
  GraphMismatch,
  NothingToResume,
  ResumeConflict,
  ThreadBusy,
  ThreadPaused,
  UnknownCheckpoint,
} from '../errors.ts'
import type { Key, Put, Store } from '../store/store.ts'
import { chosen } from './answers.ts'
import { fill, fold } from './fold.ts'
import { Level, MISSING } from './level.ts'
import { indexRows, type App, type Run } from './run.ts'
import type { RunRequest } from './request.ts'
import { take } from './take.ts'

/** A request, or the clock's: continues what is due. */
export type Opening = RunRequest & { readonly wake?: number; readonly tenant?: string }

/** A thread as it was found. */
export interface Found {
  readonly at: Address
  readonly head: Head | undefined
  readonly revision: string | undefined
}

/** Finds a thread. */
export async function find({ plan, owner }: App, thread: string, tenant = ''): Promise<Found> {
  const at = await address(plan.name, tenant, thread)
  const [entry] = await owner.store.get([headKey(at.place)])
  if (!entry) return { at, head: undefined, revision: undefined }
  const head = readable(thread, () => readHead(entry.value))
  if (head.thread !== thread || head.tenant !== tenant)
    throw corrupt(thread, undefined, new Unreadable('its head is that of another thread'))
  if (head.status === 'deleted') {
    await erase(owner.store, at, head, entry.revision)
    return { at, head: undefined, revision: undefined }
  }
  if (head.graph !== plan.name) {
    throw new GraphMismatch(
      `Cannot use thread "${thread}" with graph "${plan.name}": it belongs to graph "${head.graph}"`,
      { thread, graph: head.graph },
    )
  }
  return { at, head, revision: entry.revision }
}

/** Whose row of an index this is: what it says, or what the head at its place says when it can't be read. */
export async function hinted(
  { owner }: App,
  place: string,
  hint: string,
): Promise<readonly [tenant: string, thread: string] | undefined> {
  try {
    return readRow<[string, string]>(hint, (row: string[]) => isTexts(row) && row.length === 2)
  } catch {
    const [entry] = await owner.store.get([headKey(place)])
    try {
      const head = entry && readHead(entry.value)
      return head && [head.tenant, head.thread]
    } catch {
      return undefined
    }
  }
}

/** The last two parts of a delete; also finishes one that a crash cut short. */
export async function erase(
  store: Store,
  at: Address,
  { born: incarnation }: Head,
  revision: string | undefined,
): Promise<void> {
  await store.clear(rootPrefix(at.place, incarnation))
  const key = headKey(at.place)
  await store.commit({ checks: [{ key, revision }], deletes: [key], durable: true })
}

/** Whether an owner has a thread right now. */
export const owned = (head: Head, now: number): boolean => head.owner !== '' && head.until > now

/**
 * Claims a thread for a run and brings its level to where it stands. Everything that can be refused is refused before the
 * claim; the claim and what it guards are one commit.
 *
 * @returns Begins the run, which is claimed by now; rejects if the way out of `start` failed
 */
export async function admit(run: Run, request: Opening): Promise<() => Promise<void>> {
  const { puts, deletes, begin } = await run.until(prepare(run, request))
  if (run.stopped) throw run.stopped.reason
  const { claim } = run
  if (!(await claim.take({ puts, deletes }))) throw await late(run, request)
  return async () => {
    if (!run.durable) claim.hold()
    else if (!run.stopped) {
      claim.head.status = 'running'
      await claim.commit()
    }
    begin()
  }
}

/** Everything up to the claim: only reads, and what a request may be refused for. */
async function prepare(
  run: Run,
  request: Opening,
): Promise<{ readonly puts: Put[]; readonly deletes: Key[]; begin(): void }> {
  const { app } = run
  const { thread } = request
  const found = await find(app, thread, request.tenant)
  const head = found.head ? structuredClone(found.head) : born(run, request)
  run.claim = new Claim(app.owner, found.at, head, found.revision)
  const level = (run.level = new Level(run, app.plan))
  const puts: Put[] = []
  const deletes: Key[] = []
  const before = { status: head.status, run: head.run, root: head.root }
  let begin = (): void => {}
  if (found.head && owned(head, request.wake ?? app.owner.clock.now()))
    throw await busy(run, request, head)
  run.tookOver = head.owner !== ''
  if (run.tookOver) skipAhead(head)
  if ('input' in request)
    begin = await turn(run, level, request, found.head !== undefined, puts, deletes)
  else if (!found.head) throw nothing(thread, 'it does not exist')
  else await goOn(run, level, request, puts, deletes)
  if (request.metadata) {
    // A copy: what the caller does to the object later reaches nothing.
    const metadata = encode(request.metadata, undefined, 'metadata')
    if (metadata instanceof Tagged)
      throw new TypeError(`Cannot run thread "${thread}": its metadata holds what JSON can't`)
    head.metadata = { ...head.metadata, ...(metadata as Head['metadata']) }
  }
  start(run, request, before, found.head !== undefined, puts)
  head.seq = level.seq
  return { puts, deletes, begin }
}

/** The head of a thread that does not exist yet. */
function born({ app }: Run, { thread, tenant = '' }: Opening): Head {
  const now = app.owner.clock.now()
  const counter = { last: 0 }
  return {
    graph: app.plan.name,
    tenant,
    thread,
    born: mint(counter, app.owner),
    created: now,
    updated: now,
    epoch: 0,
    owner: '',
    until: 0,
    status: 'starting',
    run: '',
    runNumber: 0,
    root: '',
    checkpoint: '',
    journal: '',
    entries: [],
    open: [],
    last: counter.last,
    seq: 1,
    commits: 0,
    strikes: 0,
    metadata: {},
  }
}

/** The last owner may still be writing: no row of ours may have the name of one of its. */
function skipAhead(head: Head): void {
  head.seq += 65_536
  head.entries.push([(head.entries.at(-1)?.[0] ?? 0) + 65_536, 0])
  head.strikes++
}

/** Starts a turn: a new thread is filled, an ended one takes the input like an update. */
async function turn(
  run: Run,
  level: Level,
  request: Opening,
  known: boolean,
  puts: Put[],
  deletes: Key[],
): Promise<() => void> {
  const { app, claim } = run
  const { head } = claim
  const { plan } = app
  if (head.status === 'interrupted' || head.status === 'waiting') throw paused(head)
  const from = request.from ?? head.checkpoint
  if (known && from !== '') {
    await read(run, from, () => level.load(from, run.tookOver || from !== head.checkpoint))
    level.seq = head.seq
    const update = await take(plan, request.input, { graph: plan.name })
    await fold(plan, level.state, [{ node: { name: 'input' }, update }])
  } else {
    level.seq = head.seq
    await fill(plan, level.state, request.input)
  }
  const id = claim.id()
  let begin = (): void => {}
  try {
    await level.enter(id)
  } catch (error) {
    // The run fails, and its record says so; it can go on from `start` when the graph is mended.
    begin = () => {
      throw error
    }
    level.next = [{ task: { key: 'start', id: `${id}.start` }, node: undefined as never }]
  }
  level.write(id, 'input', puts)
  run.dropOpen(head.open, 'cancelled', puts, deletes)
  head.checkpoint = head.journal = id
  head.entries = []
  return begin
}

/** Goes on where a thread stopped: with answers, because of the clock, or after an error, a crash or a cancel. */
async function goOn(
  run: Run,
  level: Level,
  request: Opening,
  puts: Put[],
  deletes: Key[],
): Promise<void> {
  const { claim, app } = run
  const { head } = claim
  const now = request.wake ?? app.owner.clock.now()
  const branch =
    request.from !== undefined && request.from !== head.checkpoint ? request.from : undefined
  const answers =
    'answer' in request || 'answers' in request
      ? await chosen(run, request, branch !== undefined)
      : undefined
  const isAnswered = (open: OpenPause): boolean =>
    answers?.some((one) => one.open === open) ?? false
  const due = branch
    ? []
    : head.open.filter((open) => open.due !== undefined && open.due <= now && !isAnswered(open))
  if (!answers && !branch && due.length === 0) {
    if (head.status === 'success') throw nothing(head.thread, 'it has ended')
    if (request.wake !== undefined && !run.tookOver)
      throw nothing(head.thread, 'nothing of it is due')
    if (head.status === 'interrupted' || head.status === 'waiting')
      throw nothing(head.thread, 'it waits for an answer or a clock, and none is given')
  }
  const from = branch ?? head.checkpoint
  await read(run, from, () => level.load(from, run.tookOver || branch !== undefined))
  level.seq = head.seq
  if (branch) return rebase(run, level, 'fork', puts, deletes)
  await loadJournal(run)
  if (run.tookOver || head.status === 'error' || head.status === 'cancelled') {
    // Rows and ids from here on are new; what had finished in the step is kept.
    const { journal, entries } = head
    await rebase(run, level, 'update', puts, deletes)
    head.journal = journal
    head.entries = entries
    // An answer may have come and not been used up; a task that nothing has come for stays as it is.
    const called = run.journal.called()
    const own = new Set(level.next.map(({ task }) => task.id))
    const inChild = called.some((task) => !own.has(task))
    run.woken = new Set(
      head.open.flatMap(({ chain }) =>
        inChild || called.includes(chain[0] as string) ? chain : [],
      ),
    )
  }
  for (const { open, cell } of answers ?? [])
    settle(run, open, { kind: 'answer', value: cell }, puts, deletes)
  for (const open of due)
    settle(
      run,
      open,
      open.kind === 'timer' ? { kind: 'woken' } : { kind: 'expired' },
      puts,
      deletes,
    )
  const settled = [...(answers ?? []).map(({ open }) => open), ...due]
  run.woken = new Set([...run.woken, ...settled.flatMap(({ chain }) => chain)])
}

/** Stands on a new checkpoint with the same tasks; a fork gives them new ids and leaves behind what was open. */
async function rebase(
  run: Run,
  level: Level,
  source: 'fork' | 'update',
  puts: Put[],
  deletes: Key[],
): Promise<void> {
  const { claim } = run
  const { head } = claim
  const id = claim.id()
  if (level.atStart) await level.enter(id)
  if (source === 'fork') {
    level.next = level.next.map(({ node, task }) => ({
      node,
      task: { ...task, id: `${id}.${task.key}` },
    }))
    run.dropOpen(head.open, 'cancelled', puts, deletes)
    head.entries = []
  }
  level.write(id, source, puts)
  head.checkpoint = head.journal = id
}

/** Ends a pause with what came for it. */
function settle(
  run: Run,
  open: OpenPause,
  came: { readonly kind: 'answer'; readonly value: Cell } | { readonly kind: 'woken' | 'expired' },
  puts: Put[],
  deletes: Key[],
): void {
  const { claim, app, user } = run
  const { head } = claim
  const value = came.kind === 'answer' ? came.value : (run.records.get(open.id)?.payload ?? null)
  const entry: Entry = {
    kind: came.kind,
    task: open.chain.at(-1) as string,
    place: open.place,
    value,
    pause: open.id,
  }
  puts.push(claim.entry(entry))
  run.journal.add(entry)
  const answered = came.kind === 'answer' && {
    answer: came.value,
    ...(user !== undefined && { by: user }),
  }
  const status = came.kind === 'answer' ? 'answered' : came.kind
  puts.push({
    key: `${pauseKey(claim.root, open.id)}.a`,
    value: settlementText({ status, ...answered, time: app.owner.clock.now() }),
  })
  deletes.push(...indexRows(claim, open))
  head.open = head.open.filter((one) => one !== open)
}

/** Reads what happened in the step so far, and what was asked. */
async function loadJournal(run: Run): Promise<void> {
  const { claim } = run
  const { head, root } = claim
  const keys = head.entries.flatMap(([from, count]) =>
    Array.from({ length: count }, (_, n) => journalKey(root, head.journal, from + n)),
  )
  await read(run, head.checkpoint, async () => {
    const entries = await claim.get(keys)
    run.journal = new Journal()
    for (const entry of entries) run.journal.add(readEntry(text(entry, 'a journal entry')))
    const ids = [...new Set([...run.journal.pauses(), ...head.open.map(({ id }) => id)])]
    const rows = await claim.get(ids.map((id) => pauseKey(root, id)))
    run.records = new Map(
      rows.map((row, i): [string, PauseRecord] => [
        ids[i] as string,
        readPause(text(row, 'the record of a pause')),
      ]),
    )
  })
}

function text(row: { readonly value: string } | undefined, what: string): string {
  if (row === undefined) throw new Unreadable(`${what} is missing`)
  return row.value
}

/** The run's record, and the thread's row in the directory. */
function start(
  run: Run,
  request: Opening,
  before: { readonly status: string; readonly run: string; readonly root: string },
  known: boolean,
  puts: Put[],
): void {
  const { claim, app, id, user } = run
  const { head } = claim
  const status = 'input' in request ? 'starting' : 'resuming'
  head.status = run.durable ? status : 'running'
  head.run = id
  head.runNumber = head.last = Math.max(app.owner.clock.now(), head.last + 1)
  head.root = status === 'starting' ? id : before.root
  const continues = status === 'resuming' ? before.run : undefined
  const row: RunStart = {
    id,
    status,
    ...(continues !== undefined && { continues }),
    root: head.root,
    ...(user !== undefined && { user }),
    metadata: request.metadata ?? {},
    time: app.owner.clock.now(),
  }
  puts.push({ key: runKey(claim.root, head.runNumber), value: JSON.stringify(row) })
  if (!known)
    puts.push({
      key: directoryKey(claim.at, head.created),
      value: JSON.stringify([head.tenant, head.thread]),
    })
}

/** Why a thread can't be had now: it is running, or what the request answers was answered by others. */
async function busy(run: Run, request: Opening, head: Head): Promise<Error> {
  const { thread } = head
  const ids = Object.keys(request.answers ?? {})
  const gone = ids.filter((id) => !head.open.some((open) => open.id === id))
  const rows =
    gone.length > 0 ? await run.claim.get(gone.map((id) => pauseKey(run.claim.root, id))) : []
  if (
    rows.some(Boolean) ||
    ('answer' in request && !head.open.some(({ kind }) => kind === 'question'))
  )
    return conflict(thread)
  const until = iso(head.until)
  return new ThreadBusy(
    `Cannot run thread "${thread}": run "${head.run}" has it until ${until} at least`,
    { thread, until },
  )
}

/** Somebody was faster between our look and our claim. */
async function late(run: Run, request: Opening): Promise<Error> {
  const { thread } = request
  if ('answer' in request || 'answers' in request) return conflict(thread)
  const { head } = await find(run.app, thread, request.tenant).catch(() => ({ head: undefined }))
  const until = head && iso(head.until)
  return new ThreadBusy(`Cannot run thread "${thread}": another run was first`, {
    thread,
    ...(until && { until }),
  })
}

const conflict = (thread: string): Error =>
  new ResumeConflict(
    `Cannot answer thread "${thread}": somebody else has answered or woken it first`,
    { thread },
  )

const nothing = (thread: string, why: string): Error =>
  new NothingToResume(`Cannot go on with thread "${thread}": ${why}`, { thread })

function paused({ thread, open }: Head): Error {
  const ids = (kind: OpenPause['kind']): string[] =>
    open.filter((one) => one.kind === kind).map(({ id }) => id)
  const [interruptions, timers] = [ids('question'), ids('timer')]
  return new ThreadPaused(
    `Cannot start a turn on thread "${thread}": it waits for ${[...interruptions, ...timers].map((id) => `"${id}"`).join(', ')}; answer, or cancel first`,
    { thread, interruptions, timers },
  )
}

/** Runs what reads a checkpoint; what can't be read is named. */
export async function read<Value>(
  run: Pick<Run, 'claim'>,
  checkpoint: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const { head } = run.claim
  try {
    if (!/^[0-9a-z]{14}$/.test(checkpoint)) throw new Unreadable(MISSING)
    return await work()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    if (checkpoint !== head.checkpoint && error.message === MISSING) {
      throw new UnknownCheckpoint(
        `Cannot use checkpoint "${checkpoint}": thread "${head.thread}" has none of that id`,
        { thread: head.thread, checkpoint },
      )
    }
    throw corrupt(head.thread, checkpoint, error)
  }
}

/** What is stored can't be read; nothing is changed. */
export const corrupt = (
  thread: string,
  checkpoint: string | undefined,
  { message: why }: Unreadable,
): CorruptCheckpoint =>
  new CorruptCheckpoint(
    `Cannot read ${checkpoint ? `checkpoint "${checkpoint}" of ` : ''}thread "${thread}": ${why}`,
    { thread, ...(checkpoint && { checkpoint }), why },
  )

/** Reads rows of a thread; what can't be read is named. */
export function readable<Value>(thread: string, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    throw error instanceof Unreadable ? corrupt(thread, undefined, error) : error
  }
}
