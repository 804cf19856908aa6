import { decode, encode, type Cell } from '../durable/codec.ts'
import type { PlaceEntry } from '../durable/journal.ts'
import type { Calls } from '../engine/calls.ts'
import type { Machine, MachineOptions } from '../engine/machine.ts'
import { placeOf } from '../engine/place.ts'
import { again, cellOf } from '../engine/replay.ts'
import { reserve } from '../engine/reserve.ts'
import { tidy } from '../lib/tidy.ts'
import { told, valueOf } from './outcome.ts'
import { perform } from './perform.ts'
import { contextOf } from './thread-context.ts'
import type { CallResult, Tool } from './tool.ts'
import { inTurns } from './turns.ts'
import { groupOf, isOurs, wantedFrom, type Wanted } from './wanted.ts'

/** Runs tools inside a thread: what finished is recorded and isn't run again, what waits holds the thread. */
export const machine: Machine = {
  async call(calls, tool, args, { emit } = {}) {
    const [name, spec] = typeof tool === 'string' ? [tool] : [tool.name, tool]
    const [wanted] = wantedFrom([{ tool: name, args }]) as [Wanted]
    const settings = tidy<Settings>({ spec, emit: emit && ((data) => emit(data)) })
    return valueOf(await placed(calls, wanted, settings).run(), name)
  },

  callAll(calls, list, { concurrency = 4, ended, returns = false, ...settings } = {}) {
    const all = wantedFrom(list)
    let left = all.length
    const batch: Settings = {
      ...settings,
      isLast: () => returns && left === 1,
      ended(result) {
        left--
        ended?.(result)
      },
    }
    // Their places follow the order of the list, whenever each gets to run.
    const reserved = all.map((wanted) => placed(calls, wanted, batch))
    // They begin at once, in their order.
    const ready = Promise.all(reserved.map((one) => one.ready))
    return ready.then(() => inTurns(reserved, concurrency, (one, leave) => one.run(leave)))
  },
}

interface Settings extends Omit<MachineOptions, 'concurrency' | 'returns'> {
  readonly spec?: Tool | undefined
  /** Whether nothing comes between its end and that of its node. */
  readonly isLast?: () => boolean
}

/** A call whose place is kept. */
interface Reserved {
  /** Settles when it can begin. */
  readonly ready: Promise<unknown>
  /** @param onWait Called when it first waits for a person or a clock */
  run(onWait?: () => void): Promise<CallResult>
}

/** Keeps the place of a call among those of its task, in the order of the calls. */
function placed(
  calls: Calls,
  { given, call }: Wanted,
  { spec: handed, agent, emit, ended, isLast, tools: own }: Settings,
): Reserved {
  const { id: task } = calls
  const { run } = calls.execution.step.level
  const tools = own ?? run.app.tools
  const { host } = run.hooked
  const spec = handed ?? tools.get(call.tool)
  const room = reserve(calls, 'tool')
  const placeIn = (group: string): string => group + calls.count(group)
  const ready = room.begin(
    given === undefined
      ? placeOf(calls, 't', call.tool, call.args ?? call.raw)
      : placeIn(groupOf(given, call.tool)),
  )

  const go = async (onWait?: () => void): Promise<CallResult> => {
    const begun = await ready
    const { place, known, use, id } = begun
    const about = { id: given ?? id, tool: call.tool }
    if (known?.kind === 'call') {
      const result: CallResult = { ...about, replayed: true, ...again(known.value) }
      ended?.(result)
      room.end()
      return result
    }
    if (!room.alive()) {
      use.end(false)
      return room.gone()
    }
    let counts = false
    const frame = room.enter(begun, () => {
      onWait?.()
      return counts
    })
    frame.agent = agent
    // Something in it is open, and nothing has come for it.
    if (run.waits(id)) return frame.pause()
    const entry = (kind: 'ran' | 'call', value: Cell): PlaceEntry => ({ kind, task, place, value })
    const watched = host.hooks.some(({ afterTool }) => afterTool)
    let recorded = false
    const ctx = contextOf(frame, {
      callId: isOurs(given) ? given : id,
      use,
      agent,
      emit: emit && ((data) => emit(data, about.id)),
      ran: known?.kind === 'ran' ? { value: decode(known.value) } : undefined,
      begin: () => (counts = true),
      async keep(value) {
        use.end(counts)
        recorded = !watched
        if (watched) return run.note(entry('ran', encode(value)))
        const last = entry('call', encode({ status: 'success', value }))
        if (!isLast?.() || host.hooks.some(({ afterNode }) => afterNode)) return run.note(last)
        run.carry(last, [])
      },
    })
    const ending = await perform(spec, { ...call, id: ctx.callId }, ctx, tools.keys())
    // A pause outweighs whatever came after it.
    if (frame.waits) return new Promise(() => {})
    try {
      frame.over()
      use.end(counts)
      const last = entry('call', cellOf(ending))
      if (ending.status === 'denied') await run.note(last)
      else if (!recorded) {
        // A pause keeps it; whoever tries a failure again runs it again.
        calls.notes.push(last)
        if (ending.status === 'success') run.journal.add(last)
      }
      const result = told(about, ending)
      ended?.(result)
      return result
    } finally {
      room.end()
    }
  }
  return { ready, run: go }
}
