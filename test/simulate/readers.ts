import type { CompiledGraph } from 'heddle'
import type { World } from './world.ts'

/** The one thread of a seed. */
export const THREAD = 't'

/** Reads everything there is to read; nobody's doing makes it fail. */
export async function readAll(world: World, app: CompiledGraph): Promise<void> {
  const now = await app.state(THREAD)
  await app.interruptions({ thread: THREAD })
  let last = '~'
  for await (const { checkpoint } of app.history(THREAD, { limit: 5 })) {
    // Of the same instant there may be one that nothing leads to.
    if (checkpoint.slice(0, 10) > last.slice(0, 10))
      world.violation(`history goes from ${last} to ${checkpoint}`)
    last = checkpoint
  }
  for await (const { thread } of app.runs(THREAD, { limit: 3 })) void thread
  if (now && now.ns.length > 0) world.violation('the state is that of a child')
}

/** Reads what was told and then what is told, so many events: numbers rise. */
export async function follow(
  world: World,
  app: CompiledGraph,
  events: number,
  signal: AbortSignal,
): Promise<void> {
  let left = events
  let last = 0
  for await (const { seq } of app.subscribe(THREAD, { after: 0, signal })) {
    if (seq <= last) world.violation(`event ${last} is followed by ${seq}`)
    last = seq
    if (--left === 0) return
  }
}
