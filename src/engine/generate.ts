import { decode } from '../durable/codec.ts'
import { iso } from '../durable/pause.ts'
import type { Generate } from '../model/ask.ts'
import type { Model, Reply } from '../model/model.ts'
import { answered } from '../model/output.ts'
import type { OnPartial } from '../model/perform.ts'
import { asked, type Asked } from '../model/request.ts'
import type { Ending } from '../tool/tool.ts'
import type { Calls } from './calls.ts'
import { placeOf } from './place.ts'
import { again } from './replay.ts'
import { reserve } from './reserve.ts'
import { entryOf, round, told, type Rounds } from './round.ts'

/** How a model is asked. */
export interface Asking {
  /** The agent that asks. */
  readonly agent?: string
  /** Stores the reply, so that a node that is entered again gets the same one. @default false: what the node returns says it all */
  readonly record?: boolean
  /** Our id of the request. @default made from its place */
  readonly id?: string
  /** Gets what had come of a message before its stream broke off or was stopped: at once, and before this rejects. */
  readonly onPartial?: OnPartial
  /** Told when the answer isn't of the shape that was asked for, before it is asked for once more. */
  readonly onRepair?: () => void
}

/**
 * Asks a model inside a thread.
 *
 * @throws TypeError, RangeError or ToolUsageError for what makes no sense, before anything is asked; ModelError if the model
 *   failed; SchemaError if the answer isn't of the shape that was asked for
 */
export async function ask<Output = undefined>(
  calls: Calls,
  model: Model,
  given: Generate<Output>,
  options: Asking = {},
): Promise<Reply<Output>> {
  const { id: task, execution } = calls
  const { run } = execution.step.level
  const { newId, owner } = run.app
  const want = asked(model, given, () => ({
    id: newId('msg_'),
    createdAt: iso(owner.clock.now()),
  }))
  const room = reserve(calls, 'model')
  const first = await room.begin(
    options.record ? recordedPlace(calls, want, given) : `G:${calls.count('G:')}`,
  )
  const { place, known } = first
  if (known?.kind === 'call') {
    room.end()
    return valueOf(again(known.value)) as Reply<Output>
  }
  const rounds: Rounds = { calls, want, room, options, asked: false, news: [] }
  try {
    const ending = await endingOf(
      answered(want, async (request, repair) => {
        if (!repair) return round(rounds, first, request, repair)
        options.onRepair?.()
        // In a group of its own: it takes no place of another request.
        return round(rounds, await room.begin(`r${place}`), request, repair)
      }),
    )
    if (!options.record) return valueOf(ending) as Reply<Output>
    const last = entryOf(task, place, 'call', ending)
    if (ending.status === 'success' && rounds.asked) {
      // After a stop nothing more is written.
      if (!room.alive()) return await room.gone()
      await run.note(last)
      told(run, rounds.news)
    } else {
      // A pause keeps it; whoever tries a failure again asks again.
      calls.notes.push(last)
      if (ending.status === 'success') run.journal.add(last)
    }
    return valueOf(ending.status === 'success' ? (decode(last.value) as Ending) : ending) as never
  } finally {
    run.level?.news?.push(...rounds.news)
    room.end()
  }
}

/** The place of a request whose reply is stored: what it asks for decides. */
function recordedPlace(calls: Calls, { name, request }: Asked, given: object): Promise<string> {
  // As they came: those that have no id yet get another each time.
  return placeOf(calls, 'g', name, { ...request, messages: (given as Generate).messages })
}

const endingOf = (work: Promise<unknown>): Promise<Ending> =>
  work.then(
    (value): Ending => ({ status: 'success', value }),
    (error: unknown): Ending => ({ status: 'error', error }),
  )

function valueOf(ending: Ending): unknown {
  if (ending.status === 'success') return ending.value
  throw (ending as { readonly error?: unknown }).error
}
