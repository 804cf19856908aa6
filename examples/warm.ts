// One runner for a process that stays warm: what it connects to is opened once, and closed when the process stops.
import * as z from 'zod'
import { createExecutor, LoopRunner, scopeLocal, tool } from 'heddle'

export const log: string[] = []
const rates = scopeLocal(
  async () => {
    log.push('connect')
    return new Map([['eu', 4.9]])
  },
  { close: () => void log.push('disconnect') },
)

const shippingRate = tool({
  name: 'shipping_rate',
  description: 'Tell what shipping to a region costs.',
  input: z.object({ region: z.string() }),
  run: async ({ region }, ctx) => (await rates.get(ctx.scope)).get(region) ?? 12,
})
const executor = createExecutor({ tools: [shippingRate] })

// Nothing is opened before the first run, so a runner may stand at module level; on Workers make one per Durable Object.
const runner = new LoopRunner()

/** An entry point that is called once per request or message, also while others are under way. */
export async function handle(event: { readonly region: string }): Promise<object> {
  const work = runner.run((scope) => executor.run(shippingRate, event, { scope }), {
    timeout: 30_000,
  })
  return { status: 'ok', rate: await work }
}

/** Lets calls finish, for ten seconds at most, and disconnects. */
export function stop(): Promise<void> {
  return runner.close({ timeout: 10_000 })
}

// Only when this file is the program: node scripts/run.mjs examples/warm.ts
if (/\bwarm\.[cm]?[jt]s$/.test(globalThis.process?.argv[1] ?? '')) {
  console.log(await Promise.all([handle({ region: 'eu' }), handle({ region: 'mars' })]))
  await stop()
  console.log(log)
}
