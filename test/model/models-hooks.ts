// Hooks and policies around requests to models (B40): what they see, what ends a request in their place.
import {
  budget,
  guardrail,
  GuardrailBlocked,
  isHeddleError,
  runLimits,
  shortCircuit,
  type Hook,
  type LLMInvocation,
  type ModelRequest,
  type Reply,
} from 'heddle'
import { manualClock } from 'heddle/testing'
import { equal, refusedWith } from '../behaviours/portable.ts'
import { executorOf, does, passing, thrown } from '../tool/parts.ts'
import { asking, bare, callable, finish, never, same, says, text, within } from './parts.ts'

type Cases = Readonly<Record<string, () => Promise<void>>>

/** Hooks that note what they are asked. */
function noting(log: string[], ...names: readonly string[]): Hook[] {
  return names.map((name) => ({
    name,
    beforeLlm: () => void log.push(`before ${name}`),
    afterLlm: (_, reply) => void log.push(`after ${name} ${reply.text}`),
    onLlmError: (_, error) => void log.push(`error ${name} ${(error as Error).name}`),
  }))
}

const hi = { messages: 'hi' }
const reply = { text: 'instead', calls: [], usage: {}, finish: 'stop' } as const
const boom = new Error('boom')
const fails = (): never => {
  throw boom
}

export const hookCases: Cases = {
  async 'hooks nest around a request'() {
    const log: string[] = []
    const hooks = noting(log, 'h1', 'h2')
    await asking(says([text('yes'), finish]), hi, { hooks })
    equal(log.splice(0), ['before h1', 'before h2', 'after h2 yes', 'after h1 yes'], 'a reply')
    await thrown(() => asking(says([boom]), hi, { hooks }))
    equal(
      log,
      ['before h1', 'before h2', 'error h2 ModelError', 'error h1 ModelError'],
      'a failure',
    )
  },

  async 'hooks see what is sent, the same frozen record throughout, and the context of the tool that asks'() {
    const seen: LLMInvocation[] = []
    const hook: Hook = {
      beforeLlm: (inv) => void seen.push(inv),
      afterLlm: (inv) => void seen.push(inv),
    }
    const model = says([finish])
    await within((ctx) => ctx.generate(model, hi), { hooks: [hook] }, { run: 'r1' })
    const [inv, later] = seen as [LLMInvocation, LLMInvocation]
    equal([inv === later, Object.isFrozen(inv)], [true, true], 'the record')
    equal([inv.provider, inv.model, inv.ctx.run, inv.ctx.ns], ['p', 'm', 'r1', []], 'what it says')
    equal(inv.request === model.requests[0], true, 'the request')
  },

  async 'a short circuit asks nobody, and the hooks after it see it'() {
    const log: string[] = []
    const [h1, h3] = noting(log, 'h1', 'h3') as [Hook, Hook]
    const model = says()
    const hook: Hook = { name: 'h2', beforeLlm: () => shortCircuit(reply) }
    const answer = await asking(model, hi, { hooks: [h1, hook, h3] })
    same(
      answer,
      { ...reply, message: { role: 'assistant', text: 'instead', model: 'p/m', usage: {} } },
      'the reply',
    )
    equal(log, ['before h1', 'after h3 instead', 'after h1 instead'], 'what ran')
    equal(model.requests.length, 0, 'requests')
  },

  async 'a short circuit on an error makes it good, and hooks after a request hear nothing of it'() {
    const log: string[] = []
    const [h1] = noting(log, 'h1') as [Hook]
    const heals: Hook = { onLlmError: () => shortCircuit(reply) }
    const answer = await asking(says([text('half'), boom]), hi, { hooks: [h1, heals] })
    equal([answer.text, log], ['instead', ['before h1']], 'the reply, what ran')
  },

  async 'a hook that gives no reply is told so'() {
    const call = { id: 'call_1', tool: 'look_up', raw: '{}' }
    const said = { role: 'assistant', text: 'instead' }
    const table: readonly (readonly [reply: unknown, words: string])[] = [
      [undefined, 'it has no text'],
      ['instead', 'it has no text'],
      [{ message: said }, 'it has no text'],
      [{ text: 'a', calls: 'b' }, 'its calls are none'],
      [{ text: 'a', calls: [{ tool: 'look_up' }] }, 'its calls are none'],
      [{ text: 'a', usage: 12 }, 'its usage is none'],
      [{ text: 'masked', message: said }, 'its message says something else than it does'],
      [{ text: 'instead', calls: [], message: { ...said, calls: [call] } }, 'its message says'],
    ]
    for (const [value, words] of table) {
      const error = await refusedWith('tool_usage_error', () =>
        asking(says(), hi, { hooks: [{ beforeLlm: () => shortCircuit(value) }] }),
      )
      equal(error.message.includes(words), true, error.message)
      const { suppressed } = (await refusedWith('model_error', () =>
        asking(says([boom]), hi, { hooks: [{ onLlmError: () => shortCircuit(value) }] }),
      )) as Error & { readonly suppressed?: readonly unknown[] }
      equal(isHeddleError(suppressed?.[0], 'tool_usage_error'), true, 'what the hook did')
      if (value !== undefined)
        await refusedWith('tool_usage_error', () =>
          asking(says([finish]), hi, { hooks: [{ afterLlm: () => value as never }] }),
        )
    }
    await refusedWith('tool_usage_error', () =>
      asking(says([finish]), hi, { hooks: [{ afterLlm: () => null as never }] }),
    )
    await refusedWith('tool_usage_error', () =>
      asking(says([finish]), hi, { hooks: [{ beforeLlm: () => reply as never }] }),
    )
  },

  async 'calls that a hook gives have ids of ours, each of which is there once'() {
    const look = (id?: string, wireId?: string): object => ({
      ...{ tool: 'look_up', raw: '{}', args: {} },
      ...(id !== undefined && { id }),
      ...(wireId !== undefined && { wireId }),
    })
    const given = [look('c'), look('c'), look(''), look(), look('own', 'x')]
    const hook: Hook = { beforeLlm: () => shortCircuit({ text: '', calls: given }) }
    const { calls, message } = await asking(says(), hi, { hooks: [hook] })
    equal(
      calls.map(({ wireId }) => wireId),
      ['c', 'c-2', undefined, undefined, 'x'],
      'ids of the wire',
    )
    equal(new Set(calls.map(({ id }) => id)).size, 5, 'ids')
    equal(
      calls.every(({ id }) => /^call_[\da-f]{32}$/.test(id)),
      true,
      'ids of ours',
    )
    same(message.calls, calls, 'the message')
  },

  async 'a hook that adds a call leaves those that were there their ids'() {
    let before: readonly string[] = []
    const adds: Hook = {
      afterLlm: (_, { message: _said, calls, ...rest }) => {
        before = calls.map(({ id }) => id)
        const more = [...calls, { id: 'more', tool: 'look_up', args: {}, raw: '{}' }, calls[0]!]
        return { ...rest, calls: more } as unknown as Reply<unknown>
      },
    }
    const call = { kind: 'call', id: 'x', tool: 'look_up', raw: '{}' }
    const ids = new Set<string>()
    for (const turn of [1, 2]) {
      const { calls } = await asking(says([call, finish]), hi, { hooks: [adds] })
      equal([calls[0]?.id, calls[1]?.wireId], [before[0], 'more'], `calls of turn ${turn}`)
      for (const { id } of calls) ids.add(id)
    }
    equal(ids.size, 6, 'ids of two turns')
  },

  async 'a reply that a hook hands on is a whole one, its message too'() {
    const model = says([text('my number is 4'), { kind: 'reasoning', delta: 'hm' }, finish])
    const masks: Hook = {
      afterLlm: (_, { message: _said, ...rest }) =>
        ({ ...rest, text: rest.text.replace('4', '*') }) as Reply<unknown>,
    }
    const { text: said, message } = await asking(model, hi, { hooks: [masks] })
    equal([said, message.text], ['my number is *', 'my number is *'], 'what it says')
    const both: Hook = {
      afterLlm: (_, { message: before, ...rest }) => {
        const other = rest.text.replace('4', '#')
        return { ...rest, text: other, message: { ...before, text: other } } as Reply<unknown>
      },
    }
    const again = says([text('4'), { kind: 'reasoning', delta: 'hm' }, finish])
    const kept = await asking(again, hi, { hooks: [both] })
    equal([kept.message.text, kept.message.reasoning], ['#', 'hm'], 'what it says')
  },

  async 'what a hook throws is thrown on, the same object, and nobody is asked'() {
    const log: string[] = []
    const model = says([finish], [finish])
    for (const beforeLlm of [fails, async () => fails()]) {
      log.length = 0
      const hooks = [...noting(log, 'h1'), { name: 'h2', beforeLlm }, ...noting(log, 'h3')]
      equal((await thrown(() => asking(model, hi, { hooks }))) === boom, true, 'the same object')
      equal(log, ['before h1', 'error h1 Error'], 'what ran')
    }
    equal(model.requests.length, 0, 'requests')
    log.length = 0
    const after = [...noting(log, 'h1'), { name: 'h2', afterLlm: fails }]
    equal((await thrown(() => asking(model, hi, { hooks: after }))) === boom, true, 'after it')
    equal([log, model.requests.length], [['before h1'], 1], 'what ran, requests')
  },

  async 'a hook on an error that fails itself leaves the first error to win'() {
    const cause = new Error('busy')
    const hooks = [{ onLlmError: fails }]
    const error = (await thrown(() => asking(says([cause]), hi, { hooks }))) as Error & {
      suppressed?: unknown
    }
    equal([error.cause === cause, error.suppressed], [true, [boom]], 'errors')
  },

  async 'control flow and what a policy decided reach no hook on errors'() {
    const told: unknown[] = []
    const listens: Hook = { onLlmError: (_, error) => void told.push(error) }
    const blocked = new GuardrailBlocked('no', { guardrail: 'g', reason: 'r' })
    const blocks: Hook = {
      beforeLlm() {
        throw blocked
      },
    }
    const error = await thrown(() => asking(says(), hi, { hooks: [listens, blocks] }))
    equal([error === blocked, told], [true, []], 'a policy')
    const caller = new AbortController()
    const more = { signal: caller.signal }
    const outcome = thrown(() => asking(says([never()]), hi, { hooks: [listens] }, more))
    caller.abort(boom)
    equal([(await outcome) === boom, told], [true, []], 'an abort')
  },

  async 'a hook may take no longer than the request'() {
    const clock = manualClock()
    const hook: Hook = { name: 'slow', beforeLlm: never }
    const outcome = thrown(() =>
      asking(says(), { messages: 'hi', timeout: 50 }, { clock, hooks: [hook] }),
    )
    const error = (await passing(clock, outcome)) as Error
    equal(
      [error.message, clock.pending],
      ['Hook "slow" of model "p/m" took longer than 50 ms', 0],
      'the error, timers',
    )
  },

  async 'a guardrail gives another request, which is checked like the first, or blocks one'() {
    const model = says([finish])
    const masks = guardrail({
      name: 'mask',
      on: 'llm',
      input(inv) {
        const { request } = inv as LLMInvocation
        return { replace: { ...request, messages: [{ role: 'user', text: 'masked' }] } }
      },
    })
    await asking(model, { messages: 'my number is 4', tools: [callable] }, { hooks: [masks] })
    const [sent] = model.requests as [ModelRequest]
    equal(bare(sent.messages), [{ role: 'user', text: 'masked' }], 'what is sent')
    equal(sent.tools?.length, 1, 'tools that are offered')
    for (const replace of [7, {}, { messages: [{ role: 'user' }] }, { messages: [], tool: 4 }]) {
      const bad = guardrail({ name: 'bad', on: 'llm', input: () => ({ replace }) })
      const error = await thrown(() => asking(says(), hi, { hooks: [bad] }))
      equal(error instanceof TypeError, true, String(error))
    }
    const blocks = guardrail({ name: 'no', output: () => ({ block: 'rude' }) })
    const error = await refusedWith('guardrail_blocked', () =>
      asking(says([text('fool'), finish]), hi, { hooks: [blocks] }),
    )
    equal(error.details, { guardrail: 'no', reason: 'rude' }, 'the block')
  },

  async 'requests count, a repair as another, and their tokens with them'() {
    const used = (total: number): object => ({ kind: 'finish', reason: 'stop', usage: { total } })
    const model = says([used(30)], [text('half'), { kind: 'usage', usage: { total: 70 } }, boom])
    const asks = does('asks', (_, ctx) => ctx.generate(model, hi).then(() => 1))
    const executor = executorOf([asks], { hooks: [budget({ tokens: 100, per: 'run' })] })
    const ask = (): Promise<unknown> => executor.run('asks', {}, { run: 'r' })
    await ask()
    equal(isHeddleError(await thrown(ask), 'model_error'), true, 'a failure')
    const { details } = await refusedWith('budget_exceeded', ask)
    equal(details, { limit: 'tokens', used: 100, allowed: 100 }, 'what was used')

    const two = says([text('no'), finish], [text('no'), finish])
    const error = await refusedWith('run_limit_exceeded', () =>
      asking(
        two,
        { messages: 'hi', output: callable.input },
        { hooks: [runLimits({ modelCalls: 1 })] },
      ),
    )
    equal([error.details.limit, two.requests.length], ['modelCalls', 1], 'a repair')
  },

  async 'what nobody was asked for uses nothing'() {
    const model = says([finish])
    const hook: Hook = {
      beforeLlm: ({ request }) =>
        request.messages[0]?.text === 'free' ? shortCircuit(reply) : undefined,
    }
    const hooks = [runLimits({ modelCalls: 1 }), hook]
    const done = await within(
      async (ctx) => {
        await ctx.generate(model, { messages: 'free' })
        await ctx.generate(model, { messages: 'free' })
        await ctx.generate(model, { messages: 'paid' })
        return thrown(() => ctx.generate(model, { messages: 'paid' }))
      },
      { hooks },
    )
    equal(isHeddleError(done, 'run_limit_exceeded'), true, String(done))
    equal(model.requests.length, 1, 'requests')
  },
}
