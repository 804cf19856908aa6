import {
  isHeddleError,
  type Interruption,
  type LiveRun,
  type Outcome,
  type RunnerOf,
  type RunRequest,
  type Snapshot,
  type StreamEvent,
} from 'heddle'
import { confirmRefund, newAddress, refundOk, whichOrder } from './case.ts'
import type { support, SupportEvent } from './graph.ts'
import type { Terminal } from './terminal.ts'

export type Support = RunnerOf<ReturnType<typeof support>>
type State = Support extends { run(request: never): Promise<Outcome<infer S>> } ? S : never

/** A thread that stands still: as a run left it, or as a process did that is gone. */
export type Standstill = Pick<Snapshot<State>, 'status' | 'state'> &
  Partial<Pick<Snapshot<State>, 'interruptions' | 'timers'>>

/** One thread, brought to its end in front of a person or a pipe. */
export interface Session {
  /** Sends a message. */
  start(message: string): Promise<void>
  /** Goes on from where the thread stands. */
  goOn(from: Standstill): Promise<void>
  /** Stops what is running; resolves when the thread is left as it should be. */
  stop(): Promise<void>
}

/** Nobody is there to answer; the question stays open. */
export class Unanswered extends Error {}

/** Opens a session. Its promises reject with `Unanswered` when the input ends before a question is answered. */
export function openSession(app: Support, terminal: Terminal, thread: string): Session {
  let live: LiveRun | undefined
  let stopped = false
  let replied = false

  async function perform(request: RunRequest): Promise<Standstill> {
    for (;;) {
      const run = (live = app.stream(request))
      try {
        for await (const event of run) show(event)
        return await run.outcome
      } catch (error) {
        // Only one process can have the file, so who has the thread is dead, and its lease runs out.
        if (stopped || !isHeddleError(error, 'thread_busy') || error.details.until === undefined)
          throw error
        await terminal.until(
          new Date(error.details.until),
          '  … the process before this one died at work; waiting until its hold on the conversation ends',
        )
      } finally {
        live = undefined
      }
    }
  }

  function show(event: StreamEvent<string, State, SupportEvent>): void {
    if (event.kind !== 'backend') return
    if (event.data.kind === 'note') return terminal.say(`  · ${event.data.text}`)
    replied = true
    reply(event.data.text)
  }

  function reply(text: string): void {
    terminal.say(`\nAnswer: ${text}`)
  }

  async function goOn(from: Standstill): Promise<void> {
    let now = from
    while (now.status !== 'success') {
      const [question] = now.status === 'interrupted' ? (now.interruptions ?? []) : []
      const [timer] = now.status === 'waiting' ? (now.timers ?? []) : []
      if (timer)
        await terminal.until(
          new Date(timer.wakeAt),
          `  … ${(timer.payload as { readonly text: string }).text}`,
        )
      now = await perform(question ? { thread, answers: await answer(question) } : { thread })
    }
    if (!replied) reply(now.state.reply)
  }

  async function answer(question: Interruption): Promise<Readonly<Record<string, unknown>>> {
    if (whichOrder.is(question))
      return whichOrder.reply(question, { text: await read(question.payload.text, isFilled) })
    if (newAddress.is(question))
      return newAddress.reply(question, { text: await read(question.payload.text, isFilled) })
    if (confirmRefund.is(question)) {
      const text = await read(`${question.payload.text} [y/n]`, isYesOrNo)
      return confirmRefund.reply(question, { ok: isYes(text) })
    }
    if (!refundOk.is(question))
      throw new TypeError(`Cannot ask "${question.key}": this program doesn't know the question`)
    const { order, customer, items, amount, why } = question.payload
    const text = await read(
      `Approve: send $${amount.toFixed(2)} for order ${order} (${items.join(', ')}) back to ${customer}? A person must decide, for ${why}. [y/n]`,
      isYesOrNo,
    )
    return refundOk.reply(question, { ok: isYes(text) })
  }

  /** Asks until an answer will do. */
  async function read(prompt: string, will: (text: string) => boolean): Promise<string> {
    for (;;) {
      const text = await terminal.ask(`\n${prompt} `)
      if (text === undefined) throw new Unanswered()
      if (will(text)) return text.trim()
    }
  }

  return {
    start: async (message) => goOn(await perform({ thread, input: { message } })),
    goOn,
    async stop() {
      stopped = true
      live?.abort()
      await live?.outcome.catch(() => {})
    },
  }
}

function isFilled(text: string): boolean {
  return text.trim() !== ''
}

function isYes(text: string): boolean {
  return /^\s*(?:y|ok)/i.test(text)
}

function isYesOrNo(text: string): boolean {
  return /^\s*(?:y|yes|n|no|ok|okay)\s*[.!]?\s*$/i.test(text)
}
