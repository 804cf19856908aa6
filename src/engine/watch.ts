import { decode } from '../durable/codec.ts'
import { iso, type PauseRecord } from '../durable/pause.ts'
import type { ErrorInfo, Status } from '../durable/records.ts'
import { errorType } from '../hook/name.ts'
import { tidy } from '../lib/tidy.ts'
import type { TokenUsage } from '../usage.ts'
import { meterOf } from './meter.ts'
import type { MonitorEvent, PresenceState } from './monitor.ts'
import type { App, Run } from './run.ts'
import { isPromise } from './take.ts'

/** What is told of a run. */
export type Told = MonitorEvent extends infer Each
  ? Each extends MonitorEvent
    ? Omit<Each, 'run' | 'thread' | 'at'>
    : never
  : never

/** Tells who watches a run: the app's monitor first, then the request's. Call it when the record is saved that it tells of. */
export function tell({ id, app, claim, local, over }: Run, event: Told): void {
  const monitors = both(app.monitor, local.monitor)
  if (monitors.size === 0 || over) return
  const at = iso(app.owner.clock.now())
  const { thread } = claim.head
  each(app, monitors, 'monitor', event.kind, (one) =>
    // What one does to it changes nothing.
    one.emit({ run: id, thread, at, ...structuredClone(event) } as MonitorEvent),
  )
}

/**
 * Shows what a run seems to be doing.
 *
 * @param id Of the run, if it isn't the one at hand that did
 */
export function show(run: Run, state: PresenceState, id: string = run.id): void {
  const { app, claim, local, over } = run
  const presences = both(app.presence, local.presence)
  if (presences.size === 0 || over) return
  const { thread } = claim.head
  const of = (run.shown ??= Object.freeze({ run: id, thread, agent: app.plan.name }))
  each(app, presences, 'presence', state, (one) => one.set(state, of))
}

/** Tells what the last commit has saved for the first time: all that the run had by then, unless it says what. */
export function tellNews(run: Run, news = run.level?.news?.splice(0)): void {
  for (const one of news ?? []) tell(run, { kind: 'message', ...one })
}

/** What a run seems to be doing when it has come to this; idle otherwise. */
const SHOWN: { readonly [How in Status]?: PresenceState } = {
  interrupted: 'waiting_input',
  error: 'error',
}

/**
 * Tells what a run has come to, which its record says by now. Nothing is told of one that was cancelled or waits for a
 * clock.
 *
 * @param asked Questions that weren't open before
 */
export function conclude(run: Run, asked: readonly PauseRecord[] = []): void {
  const { monitor, presence } = run.app
  if (!monitor && !presence && !run.local.monitor && !run.local.presence) return
  tellNews(run)
  const { status, error } = run.claim.head
  for (const { id, payload } of asked) {
    const toolName = toolIn(decode(payload))
    tell(run, { kind: 'run_interrupt', status: 'interrupted', interruptionId: id, toolName })
  }
  if (status === 'success') tell(run, { kind: 'run_end', ...figures(meterOf(run).usage) })
  else if (error && status !== 'cancelled')
    tell(run, {
      kind: 'run_error',
      error: error.message,
      errorType: error.name,
      context: ofModel(error) ? 'model_call' : 'invoke',
    })
  show(run, SHOWN[status as Status] ?? 'idle')
}

/** What monitors are told of tokens. What nobody reported is absent. */
export const figures = ({
  total: totalTokens,
  input: inputTokens,
  output: outputTokens,
}: TokenUsage): {
  readonly totalTokens?: number
  readonly inputTokens?: number
  readonly outputTokens?: number
} => tidy({ totalTokens, inputTokens, outputTokens })

/** Whether a model failed, whatever was made of that on the way. */
const ofModel = ({ code, cause }: ErrorInfo): boolean =>
  code === 'model_error' || (cause !== undefined && ofModel(cause))

/** Which tool a question is about, by its payload. */
function toolIn(payload: unknown): string {
  const { tool_name: tool, type } = Object(payload) as Readonly<Record<string, unknown>>
  return [tool, type].find((one): one is string => typeof one === 'string' && !!one) ?? 'ask_human'
}

const both = <One>(app: One | undefined, own: One | undefined): Set<One> =>
  new Set([app, own].filter((one) => one !== undefined))

/** Calls each of those who watch. What fails in there, at once or later, is logged by its kind and changes nothing. */
function each<One>(
  { logger }: App,
  all: ReadonlySet<One>,
  what: string,
  told: string,
  call: (one: One) => unknown,
): void {
  const failed = (error: unknown): void =>
    logger.warn(`A ${what} failed`, { told, error: errorType(error) })
  for (const one of all) {
    try {
      const result = call(one)
      if (isPromise(result)) Promise.resolve(result).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
