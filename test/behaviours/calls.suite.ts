// Tools inside a thread (B02, B06, B09, B32): what pauses holds the thread, what finished isn't repeated. Every pass is a
// new process on the same store.
import { approval, type CallResult, type Hook, type Tool } from 'heddle'
import { calling, counted, Counts, openIn, pause, resultOf, Thread } from './calls-parts.ts'
import { casesOf, equal, refusedWith, type Case, type Cases, type Open } from './portable.ts'

const asking = (counts: Counts, delays: readonly number[][]): Tool =>
  counted(counts, 'asks', async ({ t, n }, ctx) => {
    await pause(delays[Math.min(counts.of('node'), delays.length) - 1]?.[n] ?? 0)
    return ctx.interrupt(t)
  })

const cases: Cases = {
  async 'three tools of one batch ask at once, and each gets its own answer (B02)'(reopen) {
    const counts = new Counts()
    const delays = [
      [10, 5, 0],
      [0, 5, 10],
      [5, 0, 10],
    ]
    const thread = new Thread(reopen, [asking(counts, delays)], async (ctx) => {
      counts.add('node')
      const results = await ctx.callAll(
        ['a', 'b', 'c'].map((t, n) => ({ tool: 'asks', args: { t, n } })),
      )
      return results.map((one) => (one.status === 'success' ? one.value : one.status))
    })
    const first = openIn(await thread.start())
    equal(Object.keys(first).sort(), ['a', 'b', 'c'], 'what is asked')
    equal(new Set(Object.values(first)).size, 3, 'ids')
    await refusedWith('ambiguous_resume', () => thread.answerOne('x'))
    equal(counts.of('node'), 1, 'entries after a refused answer')
    const second = openIn(await thread.answer({ [first.b as string]: 'vb' }))
    equal([second.a, second.b, second.c], [first.a, undefined, first.c], 'what is still open')
    const last = await thread.answer({ [first.c as string]: 'vc', [first.a as string]: 'va' })
    equal(resultOf(last), ['va', 'vb', 'vc'], 'what the batch gives')
  },

  async 'calls of one tool side by side, without a batch, get their own answers (B02)'(reopen) {
    const counts = new Counts()
    const thread = new Thread(
      reopen,
      [
        asking(counts, [
          [10, 0],
          [0, 10],
        ]),
      ],
      async (ctx) => {
        counts.add('node')
        return Promise.all(['a', 'b'].map((t, n) => ctx.call('asks', { t, n })))
      },
    )
    const { a, b } = openIn(await thread.start())
    equal(resultOf(await thread.answer({ [b as string]: 1, [a as string]: 0 })), [0, 1], 'answers')
  },

  async 'a tool that catches everything can not swallow its pause (B06)'(reopen) {
    const counts = new Counts()
    const told: string[] = []
    const hook: Hook = {
      onToolError: () => void told.push('tool'),
      onNodeError: () => void told.push('node'),
    }
    const catches = counted(
      counts,
      'catches',
      async (_, ctx) => {
        try {
          return `ran:${String(await ctx.interrupt('ok?'))}`
        } catch {
          return 'swallowed'
        } finally {
          counts.add('finally')
        }
      },
      { retry: { attempts: 3, delay: 1 } },
    )
    const thread = new Thread(
      reopen,
      [catches],
      async (ctx) => {
        counts.add('node')
        return ctx.call('catches', {}).catch(() => 'caught')
      },
      { hooks: [hook] },
    )
    equal(Object.keys(openIn(await thread.start())), ['ok?'], 'what is asked')
    equal([counts.all, told], [{ catches: 1, node: 1 }, []], 'before the answer')
    equal(resultOf(await thread.answerOne(true)), 'ran:true', 'after it')
    equal([counts.all, told], [{ catches: 2, finally: 1, node: 2 }, []], 'what ran')
  },

  async 'a pause inside a tool outweighs a race and what its node returns (B06)'(reopen) {
    const counts = new Counts()
    let asked: () => void = () => {}
    const reached = new Promise<void>((resolve) => (asked = resolve))
    const racing = counted(counts, 'racing', async (_, ctx) => {
      const answer = ctx.interrupt('x')
      asked()
      return Promise.race([answer, pause(10).then(() => 'late')])
    })
    const thread = new Thread(reopen, [racing], async (ctx) => {
      const call = ctx.call('racing', {})
      return counts.add('node') > 1 ? call : Promise.race([call, reached.then(() => pause(30))])
    })
    equal(Object.keys(openIn(await thread.start())), ['x'], 'what is asked')
    equal(resultOf(await thread.answerOne('yes')), 'yes', 'the answer')
    await pause(60)
  },

  async 'siblings that finished beside a pause are neither repeated nor lost (B09)'(reopen) {
    const counts = new Counts()
    const tools = [
      counted(counts, 'del', async (_, ctx) => {
        const { approve } = (await ctx.interrupt('del?')) as { approve: boolean }
        if (approve) counts.add('deleted')
        return 'deleted'
      }),
      counted(counts, 'list', async () => ['a']),
      counted(counts, 'mail', async () => undefined),
      counted(counts, 'broken', async () => {
        throw new RangeError('no such box')
      }),
    ]
    const batches: (readonly CallResult[])[] = []
    const thread = new Thread(reopen, tools, async (ctx) => {
      const names = ['del', 'list', 'mail', 'broken']
      batches.push(await ctx.callAll(names.map((tool, i) => ({ id: `c${i + 1}`, tool, args: {} }))))
      return batches.length
    })
    openIn(await thread.start())
    equal(counts.all, { broken: 1, del: 1, list: 1, mail: 1 }, 'before the answer')
    await thread.answerOne({ approve: true })
    equal(counts.all, { broken: 1, del: 2, deleted: 1, list: 1, mail: 1 }, 'after it')
    const [results = []] = batches
    equal(
      results.map(({ id, tool, status, replayed = false }) => [id, tool, status, replayed]),
      [
        ['c1', 'del', 'success', false],
        ['c2', 'list', 'success', true],
        ['c3', 'mail', 'success', true],
        ['c4', 'broken', 'error', true],
      ],
      'the batch',
    )
    const [, list, mail, broken] = results as [never, { value: unknown }, object, { error: Error }]
    equal([list.value, 'value' in mail], [['a'], true], 'values')
    equal([broken.error.name, broken.error.message], ['RangeError', 'no such box'], 'the failure')
  },

  async 'of three long jobs that wait, the one that is answered is entered again (B09)'(reopen) {
    const counts = new Counts()
    const jobs = ['a', 'b', 'c'].map((name) =>
      counted(counts, name, async (_, ctx) => ctx.interrupt(name)),
    )
    const thread = new Thread(reopen, jobs, async (ctx) => {
      const results = await ctx.callAll(['a', 'b', 'c'].map((tool) => ({ tool, args: {} })))
      return results.map((one) => (one.status === 'success' ? one.value : one.status))
    })
    const open = openIn(await thread.start())
    await thread.answer({ [open.b as string]: 2 })
    equal(counts.all, { a: 1, b: 2, c: 1 }, 'after one answer')
    const end = await thread.answer({ [open.a as string]: 1, [open.c as string]: 3 })
    equal(counts.all, { a: 2, b: 2, c: 2 }, 'after all')
    equal(resultOf(end), [1, 2, 3], 'what they give')
  },

  async 'more calls wait than run at a time, and all of them are asked'(reopen) {
    const waits = counted(new Counts(), 'waits', async ({ n }, ctx) => ctx.interrupt(n))
    const thread = new Thread(reopen, [waits], async (ctx) => {
      const calls = Array.from({ length: 11 }, (_, n) => ({ tool: 'waits', args: { n } }))
      return (await ctx.callAll(calls)).length
    })
    equal(Object.keys(openIn(await thread.start())).length, 11, 'questions')
  },

  async 'what a tool stored, and the tools it called, are not run again'(reopen) {
    const counts = new Counts()
    const inner = counted(counts, 'inner', async ({ n }) => n * 2)
    const outer = counted(counts, 'outer', async (_, ctx) => {
      const paid = await ctx.once('pay', () => counts.add('paid'))
      const doubled = await ctx.call('inner', { n: 4 })
      const [more] = await ctx.callAll([{ tool: 'inner', args: { n: 5 } }])
      const ok = await ctx.interrupt('go on?')
      return [paid, doubled, more?.status === 'success' && more.value, ok]
    })
    const thread = new Thread(reopen, [outer, inner], async (ctx) => {
      const one = await ctx.call('outer', {})
      await ctx.interrupt('and the node?')
      return one
    })
    await thread.start()
    await thread.answerOne('yes')
    equal(resultOf(await thread.answerOne('yes')), [1, 8, 10, 'yes'], 'what it gives')
    equal(counts.all, { inner: 2, outer: 2, paid: 1 }, 'what ran')
  },

  async 'a tool waits for a clock, and runs a graph that asks'(reopen) {
    const counts = new Counts()
    const child = calling(async (ctx) => {
      counts.add('child')
      return ctx.interrupt('from the child')
    })
    const tools = [
      counted(counts, 'naps', async (_, ctx) => {
        await ctx.sleep(1)
        return ctx.wait('2020-01-01T00:00:00Z', 'past')
      }),
      counted(counts, 'delegates', async (_, ctx) => (await ctx.child(child, {})).out),
    ]
    const thread = new Thread(reopen, tools, async (ctx) =>
      (
        await ctx.callAll([
          { tool: 'naps', args: {} },
          { tool: 'delegates', args: {} },
        ])
      ).map((one) => one.status === 'success' && one.value),
    )
    const first = await thread.start()
    equal(Object.keys(openIn(first)), ['from the child'], 'what is asked')
    const [asked] = first.status === 'interrupted' ? first.interruptions : []
    equal([asked?.node, asked?.ns], ['tools', ['tools']], 'who asks')
    await pause(5)
    equal(resultOf(await thread.answerOne('ok')), ['past', 'ok'], 'what they give')
    equal(counts.of('child'), 2, 'entries of the child')
  },

  async 'ids that a provider repeats name calls of their own (B32)'(reopen) {
    const counts = new Counts()
    const ids: string[] = []
    const tools = ['a', 'b'].map((name) =>
      counted(
        counts,
        name,
        async ({ n }, ctx) => {
          ids.push(ctx.callId)
          return n
        },
        { approve: true },
      ),
    )
    const thread = new Thread(reopen, tools, async (ctx) => {
      const first = await ctx.callAll([{ id: '0', tool: 'a', args: { n: 1 } }])
      const second = await ctx.callAll([{ id: '0', tool: 'b', args: { n: 2 } }])
      const twins = await ctx.callAll([
        { id: 'x', tool: 'a', args: { n: 3 } },
        { id: 'x', tool: 'a', args: { n: 4 } },
        { id: '', tool: 'a', args: { n: 5 } },
      ])
      return [...first, ...second, ...twins].map((one) =>
        one.status === 'success' ? [one.id, one.value] : one.status,
      )
    })
    const seen: string[] = []
    let outcome = await thread.start()
    while (outcome.status === 'interrupted') {
      const open = outcome.interruptions.filter((one) => approval.is(one))
      for (const { id, payload } of open) if (payload.id !== id) throw new Error('another id')
      seen.push(...open.map(({ id }) => id))
      outcome = await thread.answer(
        Object.fromEntries(open.map(({ id }) => [id, { approve: true }])),
      )
    }
    equal([new Set(seen).size, seen.every((id) => id.startsWith('apr_'))], [5, true], 'approvals')
    equal([new Set(ids).size, ids.every((id) => id.startsWith('call_'))], [5, true], 'call ids')
    const results = resultOf(outcome) as [string, number][]
    equal(
      results.slice(0, 4),
      [
        ['0', 1],
        ['0', 2],
        ['x', 3],
        ['x-2', 4],
      ],
      'results',
    )
    equal(
      [results[4]?.[1], results[4]?.[0].startsWith('call_')],
      [5, true],
      'the one without an id',
    )
    equal(counts.all, { a: 4, b: 1 }, 'what ran')
  },

  async 'a call that is made with other arguments counts as the one that waits in its place'(
    reopen,
  ) {
    const counts = new Counts()
    const waits = counted(counts, 'waits', async (_, ctx) => ctx.interrupt('which?'))
    const thread = new Thread(reopen, [waits], async (ctx) =>
      ctx.call('waits', { at: counts.add('node') }),
    )
    const { 'which?': id } = openIn(await thread.start())
    equal(resultOf(await thread.answer({ [id as string]: 'this' })), 'this', 'the answer')
  },

  async 'a failure that a node has seen is the same when it is entered again; going on tries anew'(
    reopen,
  ) {
    const counts = new Counts()
    const flaky = counted(counts, 'flaky', async () => {
      if (counts.of('flaky') < 2) throw Object.assign(new Error('down'), { status: 503 })
      return 'up'
    })
    const thread = new Thread(reopen, [flaky], async (ctx) => {
      const seen = await ctx.call('flaky', {}).catch((error: Error) => error)
      if (counts.of('flaky') > 1) return seen
      const why = seen as Error & { status: number }
      return [why instanceof Error, why.message, why.status, await ctx.interrupt('what now?')]
    })
    await thread.start()
    equal(resultOf(await thread.answerOne('stop')), [true, 'down', 503, 'stop'], 'what it saw')
    equal(counts.of('flaky'), 1, 'entries')

    const again = new Counts()
    const fails = counted(again, 'fails', async () => {
      if (again.of('fails') < 2) throw new Error('down')
      return 'up'
    })
    const other = new Thread(reopen, [fails], async (ctx) => ctx.call('fails', {}))
    const app = await other.app()
    const error = await app.run({ thread: 'o', input: {} }).catch((thrown: Error) => thrown.message)
    equal(error, 'down', 'the failure')
    equal(resultOf(await app.run({ thread: 'o' })), 'up', 'the next attempt')
  },
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('calls', open, cases)
}
