// Runs tools with long timeouts and long waits between attempts, inside a thread and outside, and says how long the
// process stays once all is done: nothing may hold it.
import { compile, createExecutor, field, graph, memory, storeCache } from 'heddle'
import { silent } from '../../fakes/silent.ts'
import { does } from '../parts.ts'

const quick = does('quick', () => 'done', {
  timeout: 30_000,
  retry: { attempts: 3, delay: 30_000 },
  cache: { scope: 'global' },
})
const stuck = does('stuck', () => new Promise(() => {}), { timeout: 30_000 })
const failing = does(
  'failing',
  () => {
    throw new Error('busy')
  },
  { retry: { attempts: 2, delay: 60_000 } },
)
const executor = createExecutor({
  tools: [quick, stuck, failing],
  cache: storeCache(memory()),
  logger: silent,
})
const first = await executor.run('quick', {})
const caller = new AbortController()
const results = executor.runAll(
  ['stuck', 'failing'].map((name) => ({ tool: name, args: {} })),
  { signal: caller.signal },
)

const app = compile(
  graph({
    name: 'g',
    state: { said: field('') },
    nodes: { ask: async (_, ctx) => ({ said: await ctx.call(quick, {}) }) },
    edges: { start: 'ask', ask: 'end' },
  }),
  { logger: silent },
)
const { status, state } = await app.run({ thread: 't', input: {} })
caller.abort(new Error('enough'))
const ended = (await results).map((one) => one.status)
const done = process.uptime()
process.on('exit', () => {
  const stayed = process.uptime() - done < 1 ? 'at once' : 'later'
  process.stdout.write([first, ...ended, status, state.said, stayed].join(' '))
})
