// A journey of three turns with an approval in the middle, with the store failing at every operation of it.
import { agent, compile, memory, type CompiledGraph, type Message, type Store } from 'heddle'
import { manualClock, scriptedModel, withFaults, type ScriptedModel } from 'heddle/testing'
import { describe, expect, test } from 'vitest'
import { atEvery, FAULTS } from '../behaviours/at-every.ts'
import { keepBooks } from '../behaviours/harness.ts'
import { silent } from '../fakes/silent.ts'
import { noting, read, say, told, wants } from './parts.ts'

keepBooks()

const END = [
  'user: Go',
  'assistant: First.',
  'tool: sent 1',
  'tool: listed 1',
  'assistant: Then.',
  'tool: listed 2',
  'assistant: Done.',
]

for (const durability of ['step', 'exit'] as const) {
  describe(`steps stored by "${durability}"`, () => {
    for (const [name, fault] of Object.entries(FAULTS)) {
      test(`${name} any operation: each message once, each call under one id, one request more at most`, async () => {
        await atEvery(fault, async (faults) => {
          const journey = new Journey(durability)
          const faulty = withFaults(memory(), faults)
          await journey.tell(faulty)
          const crashed = faulty.crashed
          const store = faulty.restart()
          const log = faulty.log.length
          const app = await journey.finish(store)
          const { state } = (await app.state('t'))!
          const messages = state['messages'] as readonly Message[]
          expect(told(messages)).toEqual(END)
          expect(new Set(messages.map(({ id }) => id)).size).toBe(END.length)
          const again = crashed || durability === 'exit' ? 1 : 0
          const asked = journey.model.requests.length
          expect(asked).toBeGreaterThanOrEqual(3)
          if (durability === 'step') expect(asked).toBeLessThanOrEqual(3 + again)
          for (const [call, runs] of journey.runs) {
            expect(call).toMatch(/^call_/)
            // One that ran when the process died may not have been stored.
            if (durability === 'step') expect(runs).toBeLessThanOrEqual(1 + again)
          }
          const answers = messages.flatMap((one) => (one.role === 'tool' ? [one.call] : []))
          if (durability === 'step')
            expect([...journey.runs.keys()].toSorted()).toEqual(answers.toSorted())
          return log
        })
      })
    }
  })
}

class Journey {
  /** How often each call ran. */
  readonly runs = new Map<string, number>()
  readonly model: ScriptedModel = scriptedModel((request) => {
    const answers = read(request).length
    if (answers === 0) return { text: 'First.', calls: [wants('send'), wants('list', 1)] }
    return answers === 2 ? { text: 'Then.', calls: [wants('list', 2)] } : { text: 'Done.' }
  })
  readonly #clock = manualClock()
  readonly #durability: 'step' | 'exit'

  constructor(durability: 'step' | 'exit') {
    this.#durability = durability
  }

  open(store: Store): CompiledGraph {
    const count = (does: string) => (n: number, ctx: { readonly callId: string }) => {
      this.runs.set(ctx.callId, (this.runs.get(ctx.callId) ?? 0) + 1)
      return `${does} ${n}`
    }
    const tools = [
      noting('send', [], { approve: true }, count('sent')),
      noting('list', [], {}, count('listed')),
    ]
    const durability = this.#durability
    const options = { store, clock: this.#clock, durability, logger: silent }
    return compile(agent({ name: 'a', model: this.model, tools }), options)
  }

  /** From the first word to the last, or to the fault. */
  async tell(store: Store): Promise<void> {
    const app = this.open(store)
    try {
      const { status } = await app.run({ thread: 't', input: say('Go') })
      if (status === 'interrupted') await app.run({ thread: 't', answer: { approve: true } })
    } catch {
      // What comes of it is looked at when it has been brought to its end.
    }
  }

  /** Brings the thread to its end, whatever it takes. */
  async finish(store: Store): Promise<CompiledGraph> {
    for (let round = 0; round < 8; round++) {
      const app = this.open(store)
      await this.#clock.advance(61_000)
      await app.tick()
      const now = await app.state('t')
      if (now?.status === 'success') return app
      const request =
        now?.status === 'interrupted'
          ? { thread: 't', answer: { approve: true } }
          : now && now.next.length > 0
            ? { thread: 't' }
            : { thread: 't', input: say('Go') }
      await app.run(request)
    }
    throw new Error("it doesn't end")
  }
}
