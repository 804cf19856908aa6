import { keepLease } from '../durable/lease.ts'
import { Cancelled, isHeddleError } from '../errors.ts'
import { later } from '../lib/clock.ts'
import { tidy } from '../lib/tidy.ts'
import type { StreamEvent } from './event.ts'
import { fail } from './failure.ts'
import { follow, startedBy } from './follow.ts'
import { drive } from './level.ts'
import { admit } from './open.ts'
import {
  checkRequest,
  type LocalOptions,
  type Opening,
  type Outcome,
  type RunRequest,
} from './request.ts'
import { Run, type App } from './run.ts'
import { Queue } from './stream.ts'
import { suspend, waitsFor } from './suspend.ts'
import { snapshot } from './view.ts'
import { conclude } from './watch.ts'

/**
 * A run on its way. It starts at once; `emit` waits only for a reader that has begun to iterate, and one that
 * begins late gets everything from the start. Can be iterated once.
 */
export interface LiveRun<
  Name extends string = string,
  State = unknown,
  Event = unknown,
> extends AsyncIterable<StreamEvent<Name, State, Event>> {
  /** Id of the run. On the far side of HTTP it is the server that knows it. */
  readonly id: Promise<string>
  /** Settles when the run pauses or ends. Never an unhandled rejection. */
  readonly outcome: Promise<Outcome<State>>
  /** Stops the run; the iterator ends by throwing the reason. Leaving a `for await` does the same without throwing. */
  abort(reason?: unknown): void
  /** Ends the iteration and lets the run go on. */
  detach(): void
  [Symbol.asyncIterator](): AsyncIterator<StreamEvent<Name, State, Event>, void, void>
}

const ignore = (): void => {}

/** Starts a run that reports what happens. */
export function live(app: App, request: RunRequest & LocalOptions, tenant: string): LiveRun {
  let run: Run | undefined
  let detached = false
  const queue = new Queue<StreamEvent>(() => {
    if (!detached)
      run?.stop(
        new Cancelled(`Cannot finish run "${run.id}": its reader left`, {
          reason: 'its reader left',
        }),
      )
  })
  let claimed: (id: string) => void = ignore
  let refused: (error: unknown) => void = ignore
  const id = new Promise<string>((resolve, reject) => {
    claimed = resolve
    refused = reject
  })
  id.catch(ignore)
  const outcome = (async () => {
    checkRequest(request)
    run = new Run(app, request)
    run.sink = queue
    return await execute(run, { ...request, tenant }, claimed)
  })()
  outcome.then(
    () => queue.end(),
    (error: unknown) => {
      refused(error)
      queue.end({ error })
    },
  )
  let iterated = false
  return {
    id,
    outcome,
    abort: (reason) => run?.stop(reason),
    detach() {
      detached = true
      void queue.return()
    },
    [Symbol.asyncIterator]() {
      if (iterated) return new Queue<StreamEvent>(ignore).ended()
      iterated = true
      queue.begin()
      return queue
    },
  }
}

/** Runs a request from its claim to its pause or end. Refusals reject before anything ran; failures once they are recorded. */
export function execute(
  run: Run,
  request: Opening,
  claimed: (id: string) => void = ignore,
): Promise<Outcome> {
  return attend(run, request, async () => {
    const known = await startedBy(run, request)
    if (known !== undefined) return join(run, request, known, claimed)
    let begin: () => Promise<void>
    try {
      begin = await admit(run, request)
    } catch (error) {
      const faster = await sameRequest(run, request, error)
      if (faster === undefined) throw error
      return join(run, request, faster, claimed)
    }
    claimed(run.id)
    return advance(run, begin)
  })
}

/** The run that the same request has started, if it was faster: its thread may not be all there yet. */
async function sameRequest(
  run: Run,
  request: Opening,
  error: unknown,
): Promise<string | undefined> {
  for (let tries = 20; ; tries--) {
    const known = await startedBy(run, request)
    const coming = isHeddleError(error, 'thread_busy') && error.details.until === undefined
    if (known !== undefined || request.idempotencyKey === undefined || !coming || !tries)
      return known
    await run.until(new Promise<void>((done) => void later(run.app.owner.clock, 100, done)))
  }
}

/** Does what a request wants; its signal and its timeout stop the run meanwhile. */
export async function attend(
  run: Run,
  request: Opening,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const { app } = run
  const { signal, timeout } = request
  if (signal?.aborted) throw signal.reason
  const onAbort = (): void => run.stop(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const late = (): void =>
    run.stop(
      new DOMException(`Run "${run.id}" took longer than ${timeout} ms`, 'TimeoutError'),
      'error',
    )
  const cancelTimer = timeout === undefined ? ignore : later(app.owner.clock, timeout, late)
  app.active.set(run, request)
  try {
    return await work()
  } finally {
    cancelTimer()
    run.cancelFlush?.()
    signal?.removeEventListener('abort', onAbort)
    run.over = true
    const leaving = run.belongings.leave()
    if (leaving) await leaving
    run.finish()
    app.active.delete(run)
  }
}

/** Follows another run of the thread, such as the one that the same request has started before. */
export function join(
  run: Run,
  { thread, tenant }: Opening,
  known: string,
  claimed: (id: string) => void = ignore,
): Promise<Outcome> {
  claimed(known)
  const again = tidy<Opening>({ thread, tenant })
  return follow(run, again, known, async () => advance(run, await admit(run, again)))
}

async function advance(run: Run, begin: () => Promise<void>): Promise<Outcome> {
  const { claim } = run
  const level = run.level as NonNullable<Run['level']>
  const lapse = keepLease(claim, run.app.owner, (reason) =>
    run.stop(reason, isHeddleError(reason, 'cancelled') ? 'cancelled' : 'error'),
  )
  try {
    await begin()
    const how = await drive(level)
    const common = (): Omit<Outcome, 'status'> => ({
      thread: claim.head.thread,
      run: run.id,
      checkpoint: claim.head.checkpoint,
      state: snapshot(level.state),
      usage: run.usage,
    })
    if (how === 'paused') {
      const pauses = await suspend(level)
      return waitsFor(common(), pauses)
    }
    if (claim.head.status !== 'success') {
      const ended = { puts: [], deletes: [] }
      if (!run.durable && level.stale) claim.head.checkpoint = level.save()
      run.dropOpen(ended)
      claim.head.seq = level.log.seq
      await run.end('success', ended)
    }
    conclude(run)
    const { checkpoint } = claim.head
    const end = (): object => ({
      kind: 'done',
      checkpoint,
      state: snapshot(level.state),
      usage: run.usage,
    })
    level.log.tell(end, undefined, level.stepNo - 1)
    return { ...common(), status: 'success' }
  } catch (error) {
    await fail(run, error)
    throw error
  } finally {
    lapse()
  }
}
