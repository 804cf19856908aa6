// Nodes that wait, on a clock that stands still.
import { field, graph, type Context, type Graph } from 'heddle'
import type { Pass, Story } from './harness.ts'

export const HOUR = 3_600_000
export const at = (ms: number): string => new Date(ms).toISOString()
export const EIGHT = Date.parse('2026-03-01T08:00:00Z')
export const DAY = 24 * HOUR

export interface Waiting {
  readonly calls: { n: number }
  readonly make: () => Graph
}

export const waiting = (run: (ctx: Context<never>) => unknown): Waiting => {
  const calls = { n: 0 }
  return {
    calls,
    make: () =>
      graph({
        name: 'waiting',
        state: { out: field<unknown>(undefined) },
        nodes: {
          async n(_, ctx) {
            calls.n++
            return { out: await run(ctx) }
          },
        },
        edges: { start: 'n', n: 'end' },
      }),
  }
}

export const wakes = (story: Story): string[] => story.events('wait').map(({ wakeAt }) => wakeAt)
export const timersOf = (pass: Pass): string[] => pass.timers.map(({ wakeAt }) => wakeAt)

export interface Calls {
  entered: string[]
  woken: string[]
}

export const sleeper = (calls: Calls): Graph =>
  graph({
    name: 'sleeper',
    state: { ms: field<number>(HOUR), out: field<string>('') },
    nodes: {
      async n({ ms }, ctx) {
        calls.entered.push(ctx.thread)
        await ctx.sleep(ms)
        calls.woken.push(ctx.thread)
        return { out: new Date(ctx.now()).toISOString() }
      },
    },
    edges: { start: 'n', n: 'end' },
  })

export const fresh = (): Calls => ({ entered: [], woken: [] })
