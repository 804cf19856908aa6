// A thread whose rows get broken, and what comes of it.
import { append, compile, field, graph, memory, reduced, type Store } from 'heddle'
import { expect } from 'vitest'
import { all } from './harness.ts'
import { rowsOf } from './portable.ts'
import { silent } from '../fakes/silent.ts'

export const calls: string[] = []
/** One step, then a question beside a sibling that finishes, with work done once, and a timer. */
export const story = graph({
  name: 'story',
  state: {
    when: field<Date>(new Date(7)),
    list: reduced(field<unknown[]>([]), append),
    got: field<unknown>(undefined),
  },
  nodes: {
    first: () => {
      calls.push('first')
      return { when: new Date(8), list: [new Map([['a', 1n]])] }
    },
    async ask(_, ctx) {
      calls.push('ask')
      const kept = await ctx.once('work', () => 'kept')
      const [one, two] = await Promise.all([ctx.interrupt({ q: 1n }), ctx.interrupt('second')])
      return { got: [kept, one, two] }
    },
    async side(_, ctx) {
      calls.push('side')
      await ctx.wait('2999-01-01T00:00:00Z', 'cursor')
    },
    done: () => {
      calls.push('done')
      return { list: ['done'] }
    },
    last: () => void calls.push('last'),
  },
  edges: {
    start: 'first',
    first: ['ask', 'side', 'done'],
    ask: 'last',
    side: 'last',
    done: 'last',
    last: 'end',
  },
})

/** A thread that waits, with one question answered, and another thread beside it. */
export async function told(store: Store): Promise<void> {
  const app = compile(story, { store, logger: silent })
  await app.run({ thread: 'other', input: {} })
  const outcome = await app.run({ thread: 't', input: {}, user: 'ann', metadata: { a: 1 } })
  if (outcome.status !== 'interrupted') throw new Error(outcome.status)
  await app.run({ thread: 't', answers: { [outcome.interruptions[1]!.id]: [2n] } })
}

/** What comes of everything that reads a thread, each told as a value or as the code of its error. */
export async function looks(store: Store): Promise<Record<string, unknown>> {
  const app = compile(story, { store, logger: silent })
  const seen: Record<string, unknown> = {}
  const look = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    seen[name] = await work().then(
      (value) => ({ value }),
      (error: { code?: string; details?: { thread?: string } }) =>
        error.code === 'corrupt_checkpoint' ? { corrupt: error.details?.thread } : { error },
    )
  }
  await look('state', () => app.state('t'))
  await look('history', () => all(app.history('t')))
  await look('runs', () => all(app.runs('t')))
  await look('open', () => app.interruptions({ thread: 't' }))
  await look('answered', () => app.interruptions({ thread: 't', status: 'answered' }))
  await look('inbox', () => app.interruptions())
  await look('threads', () => all(app.threads()))
  return seen
}

/** Answers the question that is left and wakes the timer, on a copy of the store. */
export async function goesOn(rows: ReadonlyMap<string, string>): Promise<unknown> {
  const store = await copyOf(rows)
  const app = compile(story, { store, logger: silent })
  calls.length = 0
  const before = await rowsOf(store)
  try {
    const { interruptions = [], timers = [] } = (await app.state('t')) ?? {}
    const answers = Object.fromEntries([...interruptions, ...timers].map(({ id }) => [id, 'late']))
    const { state } = await app.run({ thread: 't', answers: { ...nobody(answers), ...answers } })
    return { state, calls: calls.toSorted() }
  } catch (error) {
    expect(calls, 'nodes entered by a run that was refused').toEqual([])
    expect([...(await rowsOf(store))], 'rows after a refusal').toEqual([...before])
    const { code, details } = error as { code?: string; details?: { thread?: string } }
    return code === 'corrupt_checkpoint' ? { corrupt: details?.thread } : { error }
  }
}

/** A thread that can't be found has no ids to answer. */
const nobody = (answers: object): object => (Object.keys(answers).length > 0 ? {} : { none: 1 })

export async function copyOf(rows: ReadonlyMap<string, string>): Promise<Store> {
  const store = memory()
  await store.commit({ puts: Array.from(rows, ([key, value]) => ({ key, value })) })
  return store
}

export const mine = ([key]: readonly [string, string]): boolean => !key.includes('other')

/** What a row is: a head, or the letter of its kind. */
export const kindOf = (key: string): string => {
  const [top, , kind] = key.split('/')
  return top === 't' ? `t/${kind}` : `${top}`
}

/** Ways to break a text. */
export function* broken(text: string): Generator<readonly [how: string, text: string]> {
  for (const whole of [
    '',
    '{',
    'null',
    '1',
    '"x"',
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '{"a":1}',
    '[1,[2]]',
  ])
    yield [`it is ${whole || 'empty'}`, whole]
  for (const share of [0.1, 0.5, 0.9]) yield ['it is cut off', text.slice(0, text.length * share)]
  yield ['its last character is gone', text.slice(0, -1)]
  yield ['something follows', `${text}x`]
  yield ['an unknown version', text.replace('{', '{"v":2,')]
  yield ['an unknown tag', text.replaceAll(/"(Date|Map|bigint)"/g, '"Function"')]
  yield ['another tag', text.replaceAll(/"(Date|Map|bigint)"/g, '"Set"')]
  yield ['another text', text.replaceAll(/"(id|key|next|thread|open|entries|seq|p|l)":/g, '"x":')]
  yield ['numbers as texts', text.replaceAll(/([:,[])(\d+)/g, '$1"$2"')]
  yield ['numbers that are too big', text.replaceAll(/([:,[])(\d+)/g, '$19e99')]
  yield ['numbers below zero', text.replaceAll(/([:,[])(\d+)/g, '$1-7')]
}
