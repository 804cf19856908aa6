import { compile, field, graph } from 'heddle'

const hello = graph({
  name: 'hello',
  state: { name: field(''), greeting: field('') },
  nodes: {
    ask: async (_, ctx) => ({ name: String(await ctx.interrupt('What is your name?')) }),
    greet: ({ name }) => ({ greeting: `Hello, ${name}!` }),
  },
  edges: { start: 'ask', ask: 'greet', greet: 'end' },
})

const app = compile(hello)
const asked = await app.run({ thread: 't1', input: {} })
const answered = await app.run({ thread: 't1', answer: 'Ada' })
console.log(asked.status, answered.status, answered.state.greeting)
