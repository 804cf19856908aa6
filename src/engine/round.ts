import { decode } from '../durable/codec.ts'
import type { PlaceEntry } from '../durable/journal.ts'
import { INSIDE } from '../hook/mark.ts'
import { errorType } from '../hook/name.ts'
import type { RequestContext, RequestInside } from '../model/inside.ts'
import type { ModelRequest, Reply } from '../model/model.ts'
import type { Answer } from '../model/output.ts'
import { perform } from '../model/perform.ts'
import type { Asked } from '../model/request.ts'
import type { Ending } from '../tool/tool.ts'
import type { Calls } from './calls.ts'
import type { Asking } from './generate.ts'
import { meterOf } from './meter.ts'
import { cellOf } from './replay.ts'
import type { Begun, Room } from './reserve.ts'
import type { Run } from './run.ts'
import { served } from './served.ts'
import { figures, show, tell, tellNews, type Told } from './watch.ts'

/** Requests that one call makes: the first, and perhaps a repair. */
export interface Rounds {
  readonly calls: Calls
  readonly want: Asked
  readonly room: Room
  readonly options: Asking
  /** A model was asked. */
  asked: boolean
  /** What is told once it is recorded. */
  readonly news: Told[]
}

/** The journal's entry of what came of a call. */
export const entryOf = (
  task: string,
  place: string,
  kind: 'ran' | 'call',
  ending: Ending,
): PlaceEntry => ({ kind, task, place, value: cellOf(ending) })

/** A reply has been recorded: it is told at once, or with the commit that pauses or ends the run. */
export function told(run: Run, news: Told[]): void {
  const now = news.splice(0)
  if (run.durable) tellNews(run, now)
  else run.level?.news?.push(...now)
}

/** Makes one request. Nothing of it settles once hooks wait for somebody, or nobody waits for it any more. */
export async function round(
  rounds: Rounds,
  begun: Begun,
  request: ModelRequest,
  repair: boolean,
): Promise<Answer> {
  const { calls, room, want, options } = rounds
  const { run } = calls.execution.step.level
  if (!room.alive()) {
    begun.use.end(false)
    return room.gone()
  }
  const frame = room.enter(begun)
  // Something in it is open, and nothing has come for it.
  if (run.waits(begun.id)) return frame.pause()
  const { kept, sent, inside } = insideOf(rounds, frame, begun, repair)
  const ctx = run.app.context(calls.execution, {
    calls: () => frame.apart(inside.phase),
    signal: frame.signal,
    inside,
    agent: options.agent,
    alive: frame.life('all'),
  })
  try {
    const answer = await perform(want, request, ctx as RequestContext, options.onPartial)
    // The repair may wait for somebody, or die.
    if (answer.issues && !repair) await kept()
    if (!frame.waits) return answer
  } catch (error) {
    if (!frame.waits) throw error
  } finally {
    if (!frame.waits) {
      frame.over()
      begun.use.end(sent())
    }
  }
  // A pause outweighs whatever came after it.
  return new Promise(() => {})
}

/** What the context of a request has inside, what stores its reply if nothing has, and whether it was sent. */
function insideOf(
  rounds: Rounds,
  frame: Calls,
  { place, known, use, id }: Begun,
  repair: boolean,
): { readonly inside: RequestInside; kept(): Promise<void>; sent(): boolean } {
  const { calls, want, options, news } = rounds
  const { execution } = calls
  const { run } = execution.step.level
  const { app, claim, hooked } = run
  const { host } = hooked
  const ran = known?.kind === 'ran' ? (decode(known.value) as { value: Reply<unknown> }) : undefined
  let unkept: Reply<unknown> | undefined
  let counts = false
  const kept = async (): Promise<void> => {
    const value = unkept
    unkept = undefined
    if (value) await run.note(entryOf(calls.id, place, 'ran', { status: 'success', value }))
    told(run, news)
  }
  const { report } = (app.context(execution) as RequestContext)[INSIDE]
  const inside: RequestInside = {
    host,
    get used() {
      return use.used
    },
    report,
    phase: 'before',
    instead: undefined,
    id: (repair ? undefined : options.id) ?? id,
    tenant: claim.head.tenant || undefined,
    ran: ran?.value,
    async begin({ messages }) {
      await served(run, want.model)
      frame.signal.throwIfAborted()
      rounds.asked = counts = true
      tell(run, { kind: 'model_request', model: want.name, messagesCount: messages.length })
      show(run, 'thinking')
    },
    async keep(reply) {
      const { usage, calls: wanted, message: response } = reply
      use.end(counts, usage)
      if (counts)
        news.push({
          ...{ kind: 'model_response', toolCallsCount: wanted.length, response },
          ...figures(meterOf(run).usage),
        })
      unkept = reply
      if (host.hooks.some(({ afterLlm }) => afterLlm)) await kept()
    },
    spent: (usage) => use.end(counts, usage),
    failed(error) {
      if (!counts) return
      const { message } = Object(error) as Partial<Error>
      const context = 'model_call'
      tell(run, {
        ...{ kind: 'model_error', context },
        ...{ error: message ?? String(error), errorType: errorType(error) },
      })
    },
    onPause: (call) => frame.onWait(call),
  }
  return { inside, kept, sent: () => counts }
}
