// Hooks around nodes: one writes everything down, one stands in for a node. Prints what was written down.
import { compile, field, graph, shortCircuit, type Hook } from 'heddle'

const log: string[] = []

const audit: Hook = {
  name: 'audit',
  beforeNode: ({ flow, node }) => void log.push(`> ${flow}.${node}`),
  afterNode: ({ node }, update) => void log.push(`< ${node} ${JSON.stringify(update)}`),
  onNodeError: ({ node }, error) => void log.push(`! ${node} ${String(error)}`),
  onEvent: ({ node, event }) => void log.push(`~ ${node} ${String(event)}`),
}

const standIn: Hook = {
  name: 'stand-in',
  // Nothing has to be asked for what is free.
  beforeNode: ({ node, state }) =>
    node === 'price' && state['region'] === 'home' ? shortCircuit({ price: 0 }) : undefined,
  // The price of last year is better than none.
  onNodeError: ({ node }) => (node === 'price' ? shortCircuit({ price: 9 }) : undefined),
}

const order = graph({
  name: 'order',
  state: { region: field('home'), price: field(0), agreed: field(false) },
  events: field(''),
  nodes: {
    price: async ({ region }, { emit }) => {
      await emit(`asking for ${region}`)
      throw new Error('the price list is down')
    },
    agree: async ({ price }, ctx) => ({ agreed: (await ctx.interrupt({ price })) === true }),
  },
  edges: { start: 'price', price: 'agree', agree: 'end' },
})

const app = compile(order, { hooks: [audit, standIn] })

await app.run({ thread: 'near', input: {} })
console.log(log.splice(0).join('\n'))

await app.run({ thread: 'far', input: { region: 'north' } })
await app.run({ thread: 'far', answer: true })
console.log(`\n${log.join('\n')}`)
