import {
  append,
  each,
  field,
  goto,
  graph,
  merge,
  messages,
  question,
  reduced,
  sum,
  type Graph,
} from 'heddle'
import type { Book } from './book.ts'
import type { Act, Part, Shape } from './shape.ts'
import type { Client } from './world.ts'

/** What every question says; and what its answer is, whoever gives it. */
export interface Asked {
  readonly q: string
}

/** An answer that fits any question. */
export const ANY = 'to whatever it is'

/** When all is said: messages that bring their time are the same whoever says them. */
const SAID = '2026-01-01T00:00:00.000Z'

export const answerTo = ({ q }: Asked): string => `to ${q}`

/** A schema that takes a promised text only. */
const answers = {
  '~standard': {
    version: 1,
    vendor: 'simulate',
    validate: (value: unknown) =>
      typeof value === 'string' && value.startsWith('to ')
        ? { value }
        : { issues: [{ message: 'It is no answer' }] },
  },
} as const

const listed = question({ key: 'listed', payload: field<Asked>(), answer: answers } as never)

type Update = Record<string, unknown>
type Ctx = Parameters<Book['enter']>[0] &
  Record<
    'interrupt' | 'wait' | 'sleep' | 'once' | 'child',
    (...args: unknown[]) => Promise<unknown>
  > & {
    readonly item: unknown
    readonly signal: AbortSignal
    emit(event: unknown): Promise<void>
    now(): number
  }

/** Builds a graph as one process has it. What its nodes do goes into the book; where they wait, the world lets them on. */
export function build(shape: Shape, book: Book, client: Client | undefined): Graph {
  const names = shape.branches.flatMap((chain, b) => chain.map((_, n) => nameOf(b, n)))
  const lasts = shape.branches.map((chain, b) => nameOf(b, chain.length - 1))
  const parts = [...shape.branches.flat(), shape.open, shape.join, shape.tail]
  const plain = [...names, 'open', 'join', 'tail'].filter((_, n) => parts[n]!.plain)

  /** Every other graph keeps messages, the others a list. */
  const talks = shape.branches.length % 2 === 0

  const run =
    (name: string, part: Part) =>
    async (state: { readonly round: number }, ctx: Ctx): Promise<unknown> => {
      book.enter(ctx, client)
      const round = name === 'open' ? state.round + 1 : state.round
      const key = `${shape.name}.${name}${ctx.item === undefined ? '' : `#${ctx.item as number}`}`
      const at = `${key}@${round}`
      const said: unknown[] = []
      for (const [n, act] of part.acts.entries())
        said.push(await perform(act, `${at}/${n}`, ctx, book, client))
      const line = `${at}: ${said.join(', ')}`
      const update: Update = {
        // Of messages one is new, one takes the place of that of the round before, one goes.
        ...(talks
          ? {
              chat: [
                ...[at, key].map((id) => ({ id, role: 'assistant', text: line, createdAt: SAID })),
                ...(name === 'tail' ? [{ remove: `${shape.name}.join` }] : []),
              ],
            }
          : { log: [line] }),
        count: 1,
        by: { [at]: said.length },
        best: said.join('').length,
        ...(name === 'open' && { round }),
        ...(plain.includes(name) && { [`p_${name}`]: at }),
      }
      return name === 'tail' && shape.back === 'goto' && round < shape.rounds
        ? goto('open', update)
        : update
    }
  const node = (name: string, part: Part, more: object = {}): object => ({
    run: run(name, part),
    ...(part.attempts > 1 && { retry: { attempts: part.attempts, delay: 200 } }),
    ...(part.timeout && { timeout: 3_600_000 }),
    ...more,
  })
  /** A router, which may take its time or break once. */
  const route = (name: string, to: (state: { readonly round: number }) => unknown) => {
    return (state: { readonly round: number }): unknown => {
      if (shape.brokenRouter) book.failOnce(`router ${shape.name}.${name}`, 1)
      return shape.lateRouter
        ? book.pass(client, `router ${name}`).then(() => to(state))
        : to(state)
    }
  }
  const items = (round: number): number[] => [...Array(shape.items?.[round - 1] ?? 0).keys()]
  const last = {
    '~standard': {
      version: 1,
      vendor: 'simulate',
      validate: (value: unknown = 0) =>
        shape.lateSchema ? book.pass(client, 'schema').then(() => ({ value })) : { value },
    },
  }
  return graph({
    name: shape.name,
    questions: [listed],
    events: field<unknown>(),
    state: {
      turn: field(0),
      round: field(0),
      ...(talks ? { chat: messages() } : { log: reduced(field<string[]>([]), append) }),
      count: reduced(field(0), sum),
      by: reduced(field<Record<string, number>>({}), merge),
      best: reduced(last as never, (a: number, b: number) => Math.max(a, b)),
      ...Object.fromEntries(plain.map((name) => [`p_${name}`, field('')])),
    },
    nodes: {
      open: node('open', shape.open),
      ...Object.fromEntries(
        shape.branches.flatMap((chain, b) =>
          chain.map((part, n) => [nameOf(b, n), node(nameOf(b, n), part)]),
        ),
      ),
      ...(shape.items && { item: node('item', shape.item, { item: field<number>() }) }),
      join: node('join', shape.join, { after: [...lasts, ...(shape.items ? ['item'] : [])] }),
      tail: node('tail', shape.tail),
    },
    edges: {
      start: 'open',
      open: route('open', ({ round }) => [
        ...shape.branches.map((_, b) => nameOf(b, 0)),
        ...(shape.items ? [each('item', items(round))] : []),
      ]),
      ...Object.fromEntries(
        shape.branches.flatMap((chain, b) =>
          chain.map((_, n) => [nameOf(b, n), n < chain.length - 1 ? nameOf(b, n + 1) : 'join']),
        ),
      ),
      ...(shape.items && { item: 'join' }),
      join: 'tail',
      tail: route('tail', ({ round }) => (round < shape.rounds ? 'open' : 'end')),
    },
  } as never)
}

/** Graphs inside others, by what they are built for. */
const built = new WeakMap<object, Map<Shape, Graph>>()

/** A graph inside another: built once for a process. */
function inner(shape: Shape, book: Book, client: Client | undefined): Graph {
  const owner = client ?? book
  const graphs = built.get(owner) ?? new Map<Shape, Graph>()
  built.set(owner, graphs)
  const known = graphs.get(shape) ?? build(shape, book, client)
  graphs.set(shape, known)
  return known
}

const nameOf = (branch: number, n: number): string => `b${branch}${'x'.repeat(n)}`

/** Does one thing. What comes back is the same whenever and however often it is done. */
async function perform(
  act: Act,
  at: string,
  ctx: Ctx,
  book: Book,
  client: Client | undefined,
): Promise<unknown> {
  const ask = async (q: string, options: object = {}): Promise<string> => {
    if ('schema' in options) book.strict.add(q)
    const answer = await ctx.interrupt({ q }, options)
    book.answered(q, answer, answerTo({ q }), ANY)
    return 'asked'
  }
  switch (act.do) {
    case 'pass':
      for (let turn = act.turns; turn > 0; turn--) await book.pass(client, `in ${at}`)
      return 'passed'
    case 'once':
      await book.once(ctx, client, act.key, act.turns)
      return 'once'
    case 'ask':
      if (act.how === 'expiring') {
        await ask(at, { schema: answers, expires: 50_000 }).catch((error: unknown) => {
          if ((error as Error).name !== 'TimeoutError') throw error
        })
        return 'asked'
      }
      if (act.how === 'listed') return ask(at, listed)
      return ask(
        at,
        act.how === 'key' ? { key: at } : act.how === 'schema' ? { schema: answers } : {},
      )
    case 'askTwo':
      return Promise.all(['a', 'b'].map((q) => ask(at + q, act.keyed ? { key: at + q } : {})))
    case 'sleep':
      await ctx.sleep(act.ms)
      return 'slept'
    case 'wait':
      await ctx.wait(
        new Date(ctx.now() + act.ms),
        { at },
        act.key === undefined ? {} : { key: act.key },
      )
      return 'waited'
    case 'askOrWait':
      await Promise.all([ask(at), ctx.wait(new Date(ctx.now() + act.ms))])
      return 'both'
    case 'emit':
      for (let n = 0; n < act.count; n++) await ctx.emit({ at, n })
      return 'emitted'
    case 'fail':
      book.failOnce(`${ctx.task} ${at}`, act.times)
      return 'well'
    case 'child': {
      const calls = (act.two ? [1, 2] : [1]).map((turn) =>
        ctx.child(
          inner(act.shape, book, client),
          { turn },
          act.keyed ? { key: `${at}.${turn}` } : {},
        ),
      )
      const states = (await Promise.all(calls)) as {
        readonly log?: readonly string[]
        readonly chat: readonly { readonly text: string }[]
      }[]
      return states.map(({ chat, log = chat.map(({ text }) => text) }) => log.join('; '))
    }
  }
}
