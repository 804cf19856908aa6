// B10: what a node returned is stored before it counts; and who lost a thread finds out on its next write.
import { append, field, graph, reduced, type Graph } from 'heddle'
import { equal, pause, type Cases } from './portable.ts'
import { LEASE, machine, oneLine, told } from './faults-tools.ts'

export const stepCases: Cases = {
  async 'nodes that ended beside one that failed are not entered again'(reopen) {
    const calls: Record<string, number> = {}
    let stored = (): void => {}
    const others = new Promise<void>((resolve) => (stored = resolve))
    const enter = (name: string): { log: string[] } => {
      calls[name] = (calls[name] ?? 0) + 1
      return { log: [name] }
    }
    const fan = graph({
      name: 'fan',
      state: { log: reduced(field<string[]>([]), append) },
      nodes: {
        s: () => enter('s'),
        a: () => enter('a'),
        async b() {
          const update = enter('b')
          await others
          if (calls['b'] === 1) throw new Error('b is broken')
          return update
        },
        c: () => enter('c'),
        z: { after: ['a', 'b', 'c'], run: () => enter('z') },
      },
      edges: { start: 's', s: ['a', 'b', 'c'], a: 'z', b: 'z', c: 'z', z: 'end' },
    })
    const here = machine(await reopen(), fan)
    const run = here.app.stream({ thread: 't', input: {} })
    const ended = new Set<string>()
    const failure = await (async () => {
      for await (const event of run) {
        if (event.kind === 'node_end') ended.add(event.node)
        if (ended.has('a') && ended.has('c')) stored()
      }
    })().catch(String)
    equal(failure, 'Error: b is broken', 'how it ends')
    equal((await here.app.state('t'))?.status, 'error', 'status')

    const next = machine(await reopen(), fan)
    equal((await told(next.app, { thread: 't' })).end, 'success', 'how it ends then')
    equal(calls, { s: 1, a: 1, b: 2, c: 1, z: 1 }, 'calls')
    equal((await next.app.state('t'))?.state, { log: ['s', 'a', 'b', 'c', 'z'] }, 'state')
  },

  async 'an owner frozen in any commit is fenced off: what it was about to do never happens'(
    reopen,
  ) {
    const store = await reopen()
    // One writer at a time was promised where nothing could tell two apart.
    if (!store.caps.atomic) return
    const undisturbed = machine(
      store,
      three('t', () => {}),
    )
    await told(undisturbed.app, { thread: 't', input: {} })
    const commits = undisturbed.store.log.filter(({ op }) => op === 'commit')
    equal(commits.length > 3, true, 'there is more than a commit a node')
    const ends: string[] = []
    const expected: string[] = []
    for (const { n } of commits) {
      const thread = `t${n}`
      let calls = 0
      const counted = three(thread, () => calls++)
      const slow = machine(store, counted, [{ at: n, freeze: true }])
      const first = told(slow.app, { thread, input: {} })
      while (slow.store.log.length < n) await pause(1)

      const next = machine(store, counted)
      next.later(LEASE + 1)
      const known = (await next.app.state(thread)) !== undefined
      // Before its claim it owned nothing.
      expected.push(known ? 'lease_lost' : 'thread_busy')
      const request = known ? { thread } : { thread, input: {} }
      equal((await told(next.app, request)).end, 'success', `the second owner, commit ${n}`)
      const before = calls
      slow.store.release()
      ends.push((await first).end)
      equal(calls, before, `calls after the first one is released, commit ${n}`)
      equal((await next.app.state(thread))?.state, { log: ['a', 'b', 'c'] }, 'state')
      await oneLine(next.app, thread)
    }
    equal(ends, expected, 'how the first one ends')
  },
}

function three(name: string, enter: (name: string) => void): Graph {
  const node = (which: string) => (): { log: string[] } => {
    enter(which)
    return { log: [which] }
  }
  return graph({
    name,
    state: { log: reduced(field<string[]>([]), append) },
    nodes: { a: node('a'), b: node('b'), c: node('c') },
    edges: { start: 'a', a: 'b', b: 'c', c: 'end' },
  })
}
