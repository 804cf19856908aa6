// What a task leaves that doesn't finish, on stores of the place we run in: it is there once, at its own level, whatever
// fails in between, and the task goes on as the same one.
import {
  append,
  compile,
  field,
  graph,
  reduced,
  type CompiledGraph,
  type Context,
  type Graph,
  type Store,
} from 'heddle'
import { manualClock, type Fault, type Operation } from 'heddle/testing'
import { leave } from '../../src/engine/leave.ts'
import { INSIDE } from '../../src/hook/mark.ts'
import type { NodeInside } from '../../src/tool/inside.ts'
import { silent } from '../fakes/silent.ts'
import { afterFaults, LEASE, machine, oneLine, told } from './faults-tools.ts'
import { casesOf, equal, type Case, type Cases, type Open } from './portable.ts'

const cases: Cases = {
  async 'is in the state of its level when the run has failed, and the next run goes on from there'(
    reopen,
  ) {
    const world = new World()
    const appOf = async (durability: 'step' | 'exit') =>
      compile(talk('t', world), {
        store: await reopen(),
        clock: manualClock(),
        logger: silent,
        durability,
      })
    for (const durability of ['step', 'exit'] as const) {
      Object.assign(world, new World())
      const thread = `t-${durability}`
      const app = await appOf(durability)
      equal((await told(app, { thread, input: {} })).end, 'Error: broken', 'how it ends')
      await isLeft(await appOf(durability), thread)
      equal(world.entered, ['first', 'work', 'beside', 'say'], 'what was entered')
      world.whole = true
      const next = await appOf(durability)
      equal((await told(next, { thread })).end, 'success', 'how it ends then')
      const log = ['first', 'heard', 'part', 'whole', 'beside']
      equal((await next.state(thread))?.state, { log }, 'state')
      equal(world.entered.slice(4), ['work', 'say'], 'what was entered again')
      equal(new Set(world.tasks).size, 2, 'tasks that left something')
      await oneLine(next, thread)
    }
  },

  ...afterFaults((what) => `is there once or not at all after ${what}`, attempt),
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('leave', open, cases)
}

class World {
  whole = false
  entered: string[] = []
  /** Those that left something, each time. */
  tasks: string[] = []
}

/** A node beside one that leaves something and calls a child graph, which leaves something and breaks. */
function talk(name: string, world: World): Graph {
  const state = { log: reduced(field<string[]>([]), append) }
  const inner = graph({
    name: 'inner',
    state,
    nodes: {
      say(_, ctx) {
        world.entered.push('say')
        if (world.whole) return { log: ['whole'] }
        put(world, ctx, ['part'])
        throw new Error('broken')
      },
    },
    edges: { start: 'say', say: 'end' },
  })
  return graph({
    name,
    state,
    nodes: {
      first() {
        world.entered.push('first')
        return { log: ['first'] }
      },
      async work(_, ctx) {
        world.entered.push('work')
        if (!world.whole) put(world, ctx, ['heard'])
        return ctx.child(inner, {})
      },
      beside() {
        world.entered.push('beside')
        return { log: ['beside'] }
      },
    },
    edges: { start: 'first', first: ['work', 'beside'], work: 'end', beside: 'end' },
  })
}

function put(world: World, ctx: Context, log: readonly string[]): void {
  const { calls } = (ctx as unknown as { readonly [INSIDE]: NodeInside })[INSIDE]
  leave(calls.execution, { log })
  world.tasks.push(ctx.task)
}

/** What is there after the first run, if its end was stored as it was. */
async function isLeft(app: CompiledGraph, thread: string): Promise<void> {
  const stood = await app.state(thread)
  equal(stood?.status, 'error', 'status')
  equal(stood?.source, 'update', 'what it stands on')
  equal(stood?.state, { log: ['first', 'heard'] }, 'state')
  equal(stood?.next, ['work', 'beside'], 'what is next')
  equal((await app.state(thread, { ns: ['work'] }))?.state, { log: ['part'] }, 'state inside')
}

/** Two runs, the first of which breaks; the fault is in either. */
async function attempt(
  store: Store,
  thread: string,
  faults: readonly Fault[],
): Promise<readonly Operation[]> {
  const world = new World()
  const here = machine(store, talk(thread, world), faults)
  // Whoever looks has no faults.
  const { app } = machine(store, talk(thread, world))
  const pass = async (): Promise<string> => {
    const known = await app.state(thread)
    if (known?.status === 'success') return 'success'
    return (await told(here.app, known ? { thread } : { thread, input: {} })).end
  }
  await pass()
  if (here.store.crashed) here.later(LEASE + 1)
  const stood = await app.state(thread)
  world.whole = true
  for (let tries = 0; ; tries++) {
    const end = await pass()
    if (end === 'success') break
    if (tries === 4) throw new Error(`it ends in ${end}`)
    here.later(LEASE + 1)
  }
  const end = await app.state(thread)
  const { log } = end!.state as { log: string[] }
  const both = log.includes('heard')
  const whole = ['first', 'heard', 'part', 'whole', 'beside']
  equal(log, both ? whole : ['first', 'whole', 'beside'], 'all that was left, or nothing')
  const isKept = stood?.status === 'error' && stood.source === 'update'
  if (isKept) equal(stood.state, { log: ['first', 'heard'] }, 'state after the first run')
  equal(both, isKept, 'it stays')
  if (faults.length === 0) equal(both, true, 'it is left')
  await oneLine(app, thread)
  const operations = [...here.store.log]
  await app.delete(thread)
  return operations
}
