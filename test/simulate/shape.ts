import { Luck } from './luck.ts'

/** One thing that a node does. */
export type Act =
  /** Takes some turns. */
  | { readonly do: 'pass'; readonly turns: number }
  | { readonly do: 'once'; readonly key: string; readonly turns: number }
  | { readonly do: 'ask'; readonly how: 'plain' | 'key' | 'schema' | 'listed' | 'expiring' }
  /** Two questions, or two waits, at once. */
  | { readonly do: 'askTwo'; readonly keyed: boolean }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'wait'; readonly ms: number; readonly key?: string }
  | { readonly do: 'askOrWait'; readonly ms: number }
  | { readonly do: 'emit'; readonly count: number }
  /** Fails so many times, then no more. */
  | { readonly do: 'fail'; readonly times: number }
  | { readonly do: 'child'; readonly shape: Shape; readonly keyed: boolean; readonly two: boolean }

/** What a node does, and with which settings. */
export interface Part {
  readonly acts: readonly Act[]
  /** Sets a field of its own beside those that all add to. */
  readonly plain: boolean
  readonly attempts: number
  readonly timeout: boolean
}

/**
 * What a graph looks like: `open` fans out to branches and items, `join` waits for all of them, `tail` leads back to
 * `open` or to the end.
 */
export interface Shape {
  readonly name: string
  /** Chains: one after the other within a branch. */
  readonly branches: readonly (readonly Part[])[]
  /** How many items there are in a round, for `each`; absent where there is no such node. */
  readonly items: readonly number[] | undefined
  readonly item: Part
  readonly open: Part
  readonly join: Part
  readonly tail: Part
  readonly rounds: number
  readonly back: 'edge' | 'goto'
  /** Routers and the custom reducer's schema take their time; or a router fails once. */
  readonly lateRouter: boolean
  readonly lateSchema: boolean
  readonly brokenRouter: boolean
}

/** What a thread is run with. */
export interface Case {
  readonly shape: Shape
  readonly durability: 'step' | 'exit'
  readonly concurrency: number
  /** How often input is given. */
  readonly inputs: number
}

/** A graph and settings by chance. */
export function caseOf(seed: number): Case {
  const luck = new Luck(seed, 0)
  return {
    shape: luck.chance(0.02) ? longShape(luck) : shapeOf(luck, 'main', luck.chance(0.6) ? 1 : 2),
    durability: luck.chance(0.15) ? 'exit' : 'step',
    concurrency: luck.chance(0.15) ? luck.between(1, 2) : Infinity,
    inputs: luck.chance(0.25) ? 2 : 1,
  }
}

/** Many rounds of little, so that lists carry. */
function longShape(luck: Luck): Shape {
  const idle: Part = { acts: [], plain: false, attempts: 1, timeout: false }
  return {
    ...shapeOf(luck, 'main', 1),
    branches: [[idle]],
    items: undefined,
    open: idle,
    join: idle,
    tail: idle,
    rounds: luck.between(9, 18),
  }
}

function shapeOf(luck: Luck, name: string, depth: number): Shape {
  const small = depth < 2
  const inner = name !== 'main'
  const part = (busy: number): Part => partOf(luck, small ? busy * 0.75 : busy, depth)
  const chain = (): Part[] => Array.from({ length: luck.chance(0.25) ? 2 : 1 }, () => part(0.8))
  const branches = Array.from({ length: luck.between(1, depth + 1) }, chain)
  const rounds = inner ? 1 : luck.chance(0.35) ? 2 : 1
  const many = luck.chance(inner ? 0.25 : 0.4)
  return {
    name,
    branches,
    items: many ? Array.from({ length: rounds }, () => luck.below(4)) : undefined,
    item: part(0.6),
    open: part(0.15),
    join: part(0.3),
    tail: part(0.3),
    rounds,
    back: luck.chance(0.4) ? 'goto' : 'edge',
    lateRouter: luck.chance(0.2),
    lateSchema: luck.chance(0.2),
    brokenRouter: luck.chance(0.08),
  }
}

function partOf(luck: Luck, busy: number, depth: number): Part {
  const acts: Act[] = []
  while (acts.length < 3 && luck.chance(busy)) {
    const act = actOf(luck, depth, acts.length)
    if (act) acts.push(act)
  }
  return {
    acts,
    plain: luck.chance(0.4),
    attempts: luck.chance(0.3) ? 2 : 1,
    timeout: luck.chance(0.08),
  }
}

function actOf(luck: Luck, depth: number, at: number): Act | undefined {
  const kind = luck.weighed({
    pass: 3,
    once: 5,
    ask: 3,
    askTwo: 1,
    sleep: 1.5,
    wait: 1,
    askOrWait: 0.5,
    emit: 1,
    fail: 1.2,
    child: depth > 0 ? 1.5 : 0,
  })
  switch (kind) {
    case 'pass':
      return { do: 'pass', turns: luck.between(1, 4) }
    case 'once':
      return { do: 'once', key: `k${at}`, turns: luck.below(3) }
    case 'ask':
      return {
        do: 'ask',
        how: luck.pick(['plain', 'plain', 'key', 'schema', 'listed', 'expiring']),
      }
    case 'askTwo':
      return { do: 'askTwo', keyed: luck.chance(0.5) }
    case 'sleep':
      return { do: 'sleep', ms: luck.pick([1, 900, 40_000, 90_000, 5_000_000_000]) }
    case 'wait':
      return {
        do: 'wait',
        ms: luck.pick([-5, 700, 70_000]),
        ...(luck.chance(0.5) && { key: `w${at}` }),
      }
    case 'askOrWait':
      return { do: 'askOrWait', ms: luck.pick([500, 80_000]) }
    case 'emit':
      return { do: 'emit', count: luck.between(1, 3) }
    case 'fail':
      return { do: 'fail', times: luck.between(1, 2) }
    case 'child':
      return {
        do: 'child',
        shape: shapeOf(luck, 'inner', depth - 1),
        keyed: luck.chance(0.4),
        two: luck.chance(0.25),
      }
  }
}
