// The loop that somebody would write by hand: no validation, no events, no way to go on after a crash.
import type { Candidate, Ending, Kept, Loop } from './loop.ts'

type Save = (log: string[], messages: readonly object[], added: readonly object[]) => void

interface Reply {
  readonly role: 'assistant'
  readonly text: string
  readonly calls?: readonly { readonly id: string; readonly tool: 'add'; readonly raw: string }[]
}

/** Nothing is kept. */
export const floor: Candidate = handwritten('nothing', () => {})

/** The whole conversation as JSON after each step, as the peers of the comparison keep it. */
export const floorJson: Candidate = handwritten('each step', (log, messages) => {
  log.push(JSON.stringify({ messages }))
})

/** What a step added, and everything at each 50th. */
export const floorDelta: Candidate = handwritten('each step', (log, messages, added) => {
  log.push(JSON.stringify(log.length % 50 === 49 ? { messages } : { added }))
})

function handwritten(kept: Kept, save: Save): Candidate {
  return {
    version: process.version,
    kept: [kept],
    make(turns): Loop {
      let log: string[] = []
      return {
        async run() {
          log = []
          return loop(turns, (messages, added) => save(log, messages, added))
        },
        bytes: () => ({ left: log.reduce((sum, line) => sum + line.length, 0) }),
      }
    },
  }
}

async function loop(
  turns: number,
  save: (messages: readonly object[], added: readonly object[]) => void,
): Promise<Ending> {
  const messages: { readonly role: string }[] = [{ role: 'user' }]
  const tools = { add: async ({ a, b }: { a: number; b: number }) => a + b }
  const model = async (): Promise<Reply> => {
    const k = messages.filter(({ role }) => role === 'tool').length
    if (k === turns) return { role: 'assistant', text: 'done' }
    const raw = JSON.stringify({ a: k, b: 1 })
    return { role: 'assistant', text: '', calls: [{ id: `call_${k}`, tool: 'add', raw }] }
  }
  for (let calls = 0; ;) {
    const reply = await model()
    messages.push(reply)
    save(messages, [reply])
    if (!reply.calls) return { calls, text: reply.text }
    const results = await Promise.all(
      reply.calls.map(async ({ id, tool, raw }) => ({
        role: 'tool',
        call: id,
        text: String(await tools[tool](JSON.parse(raw))),
      })),
    )
    calls += results.length
    messages.push(...results)
    save(messages, results)
  }
}
