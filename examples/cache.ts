// Results that are kept: a tool's beside its executor, a node's beside its threads, and the keys of both.
import * as z from 'zod'
import {
  cacheKey,
  compile,
  createExecutor,
  digest,
  envelope,
  field,
  graph,
  memory,
  storeCache,
  tool,
  ToolResultCache,
} from 'heddle'

const looked: string[] = []
const lookUp = tool({
  name: 'look_up',
  description: 'Looks a city up.',
  input: z.object({ city: z.string(), unit: z.string() }),
  cache: { scope: 'global', ttl: 60_000 },
  run({ city, unit }) {
    looked.push(city)
    return { city, unit, degrees: 21 }
  },
})

const store = memory()
const cache = storeCache(store)
const executor = createExecutor({ tools: [lookUp], cache })
const first = await executor.run(lookUp, { city: 'Oslo', unit: 'C' })
const second = await executor.run(lookUp, { unit: 'C', city: 'Oslo' })
console.log(looked, first !== second, second.degrees)

// What lies there, under which key: no order of arguments matters.
const args = { unit: 'C', city: 'Oslo' }
const key = await cacheKey.tool({ ns: 'heddle', scope: 'global', tool: 'look_up', args })
console.log(key === `heddle:tool:v1:global:look_up:${await digest(args)}`)
console.log(envelope.decode((await cache.get(key!))!, 'tool')?.value)
console.log(await new ToolResultCache(cache).get(`${key}0`))

// A node's results are kept in the store of its threads.
const weather = graph({
  name: 'weather',
  state: { city: field(''), report: field('') },
  nodes: {
    report: {
      run: async ({ city }) => ({
        report: `${(await executor.run(lookUp, { city, unit: 'F' })).degrees}`,
      }),
      cache: { scope: 'thread', key: ({ city }) => city },
    },
  },
  edges: { start: 'report', report: 'end' },
})
const app = compile(weather, { store })
for (const city of ['Rome', 'Rome']) {
  for await (const event of app.stream({ thread: 'trip', input: { city, report: '' } }))
    if (event.kind === 'node_end') console.log(event.update, event.cached ?? false)
}
