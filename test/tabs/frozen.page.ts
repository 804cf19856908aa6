// A tab that is frozen in the middle of a node, and another one that takes its thread over.
import { compile, field, graph, isHeddleError } from 'heddle'
import { indexedDb } from 'heddle/indexeddb'
import { pass, tab, tell } from './page.ts'

const LEASE = 1_000

const app = compile(
  graph({
    name: 'report',
    state: { by: field<string>(''), closedBy: field<string>('') },
    nodes: {
      async write(_, ctx) {
        await tell('write', { thread: ctx.thread, task: ctx.task })
        if (tab === 'first') await pass('thawed')
        return { by: tab }
      },
      close: () => ({ closedBy: tab }),
    },
    edges: { start: 'write', write: 'close', close: 'end' },
  }),
  { store: indexedDb({ name: 'frozen' }), leaseMs: LEASE },
)

/** The thread as it is stored: where it stands and every checkpoint. */
async function stored(): Promise<object> {
  const line = []
  for await (const { checkpoint, parent, state } of app.history('t'))
    line.push({ checkpoint, parent, state })
  const runs = []
  for await (const { id, status, error } of app.runs('t')) runs.push({ id, status, error })
  return { line, runs, status: (await app.state('t'))?.status }
}

if (tab === 'first') {
  const kinds: string[] = []
  try {
    for await (const { kind } of app.stream({ thread: 't', input: {} })) kinds.push(kind)
    await tell('ended', { kinds })
  } catch (error) {
    await tell('ended', { kinds, code: isHeddleError(error) ? error.code : String(error) })
  }
  await tell('after', await stored())
} else {
  await pass('frozen')
  let refusals = 0
  for (;;) {
    try {
      const outcome = await app.run({ thread: 't' })
      await tell('took over', { status: outcome.status, refusals })
      break
    } catch (error) {
      if (!isHeddleError(error, 'thread_busy')) throw error
      refusals++
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  await tell('before', await stored())
}
