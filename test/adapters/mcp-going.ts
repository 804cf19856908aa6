import { approval, compile, createExecutor, field, graph } from 'heddle'
import type { Interruption } from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal, type Cases } from '../behaviours/portable.ts'
import { silent } from '../fakes/silent.ts'
import { named, until, type Bench } from './mcp.tools.ts'

/** What becomes of a call on its way: progress, aborts, limits, people. */
export function goingCases({ at }: Bench): Cases {
  return {
    'progress is emitted in order, before the call ends': () =>
      at(async (tools) => {
        const seen: unknown[] = []
        const emit = async (data: unknown): Promise<void> => {
          await Promise.resolve()
          seen.push(data)
        }
        const slow = named(tools, 'slow')
        const value = await createExecutor({ tools }).run(slow, { steps: 3 }, { emit })
        equal(value, '3 steps', 'value')
        equal(
          seen,
          [1, 2, 3].map((progress) => ({ progress, total: 9 })),
          'progress',
        )
      }),

    'an abort reaches the server, and rejects with the reason of the caller': () =>
      at(async (tools, { done }) => {
        const caller = new AbortController()
        const reason = new Error('enough')
        const call = createExecutor({ tools, logger: silent })
          .run('slow', {}, { signal: caller.signal })
          .catch((error: unknown) => error)
        await until(() => done.includes('slow started'))
        caller.abort(reason)
        equal((await call) === reason, true, 'the reason')
        await until(() => done.includes('slow stopped'))
      }),

    'a call that takes too long is a TimeoutError, and the server hears of it': () =>
      at(async (tools, { done }) => {
        const clock = manualClock()
        const call = createExecutor({ tools, clock, logger: silent })
          .run('slow', {})
          .catch((error: unknown) => error)
        await until(() => done.includes('slow started'))
        await clock.advance(60_000)
        equal(((await call) as Error).name, 'TimeoutError', 'name')
        await until(() => done.includes('slow stopped'))
        equal(clock.pending, 0, 'timers')
      }),

    'in a thread a call waits for a person, and what was refused never reaches the server': (
      reopen,
    ) =>
      at(
        async (tools, { done }) => {
          const store = await reopen()
          const app = () => compile(mailing, { store, tools, logger: silent })
          const first = await app().run({ thread: 't', input: {} })
          equal(first.status, 'interrupted', 'status')
          equal(done, ['read a'], 'what needs nobody has run')
          const open = first.status === 'interrupted' ? first.interruptions : []
          equal(
            open.map(({ payload }) => (payload as { args: unknown }).args),
            [{ to: 'ann' }, { to: 'bob' }],
            'asked',
          )
          const { state } = await app().run({
            thread: 't',
            answers: Object.assign({}, ...open.map(verdict)),
          })
          equal(done, ['read a', 'send cem'], 'done')
          equal(state.results, ['first\nsecond', 'sent to cem', 'denied: Not him'], 'results')
        },
        { approve: { read: false } },
      ),
  }
}

const mailing = graph({
  name: 'mailing',
  state: { results: field<string[]>([]) },
  nodes: {
    mail: async (_, ctx) => {
      const results = await ctx.callAll([
        { tool: 'read', args: { path: 'a' } },
        { tool: 'send', args: { to: 'ann' } },
        { tool: 'send', args: { to: 'bob' } },
      ])
      return {
        results: results.map((one) =>
          one.status === 'success'
            ? String(one.value)
            : one.status === 'denied'
              ? `denied: ${one.reason}`
              : String(one.error),
        ),
      }
    },
  },
  edges: { start: 'mail', mail: 'end' },
})

/** Another address for ann, and no mail for bob. */
function verdict(open: Interruption): object {
  if (!approval.is(open)) return {}
  const { to } = open.payload.args as { to: string }
  return to === 'ann'
    ? approval.reply(open, { approve: true, args: { to: 'cem' } })
    : approval.reply(open, { approve: false, reason: 'Not him' })
}
