// A wait of a day that needs no process: whoever calls `tick` from time to time wakes what is due.
import { append, compile, field, graph, reduced } from 'heddle'
import { manualClock } from 'heddle/testing'

const DAY = 86_400_000

const reminder = graph({
  name: 'reminder',
  state: { days: field<number>(), sent: reduced(field<string[]>([]), append) },
  nodes: {
    wait: async ({ sent }, ctx) => {
      await ctx.wait(new Date(ctx.now() + DAY), { day: sent.length + 1 })
    },
    send: async (_, ctx) => ({ sent: [new Date(ctx.now()).toISOString()] }),
  },
  edges: {
    start: 'wait',
    wait: 'send',
    send: { to: ['wait', 'end'], pick: ({ days, sent }) => (sent.length < days ? 'wait' : 'end') },
  },
})

const clock = manualClock('2026-03-01T08:00:00Z')
const app = compile(reminder, { clock })
const { status } = await app.run({ thread: 'r1', input: { days: 2 } })
console.log(status)

clock.set('2026-03-02T07:59:59Z')
console.log(await app.tick()) // too early: nothing is woken, `next` says when to come again
clock.set('2026-03-02T08:00:00Z')
await app.tick()
clock.set('2026-03-03T09:00:00Z') // an hour late is no harm
await app.tick()
console.log((await app.state('r1'))?.state.sent)
