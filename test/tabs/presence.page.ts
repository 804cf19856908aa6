// One tab runs an agent that asks; another one sees what it seems to be doing, also after it was in the back/forward cache.
import { compile, field, graph, memory } from 'heddle'
import { broadcastPresence, watchPresence } from 'heddle/browser'
import { pass, tab, tell } from './page.ts'

const asks = graph({
  name: 'asks',
  state: { answer: field<string>('') },
  nodes: {
    ask: async (_, ctx) => ({ answer: String(await ctx.interrupt('Go on?')) }),
  },
  edges: { start: 'ask', ask: 'end' },
})

if (tab === 'worker') {
  const app = compile(asks, { store: memory(), presence: broadcastPresence() })
  const elsewhere = compile(asks, { store: memory(), presence: broadcastPresence('other') })
  await pass('watching')
  // What is told on a channel of another name, or isn't presence, is none of its business.
  await elsewhere.run({ thread: 'other', input: {} })
  for (const noise of ['Hello?', null])
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target
    new BroadcastChannel('heddle').postMessage(noise)
  await app.run({ thread: 't1', input: {} })
  await pass('away')
  await app.run({ thread: 't2', input: {} })
  await tell('unheard')
  await pass('back')
  // As a page does that comes back from the cache itself.
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
  await app.run({ thread: 't1', answer: 'yes' })
  await pass('stopped')
  await app.run({ thread: 't3', input: {} })
  await tell('unheard')
} else {
  // One after the other: requests may overtake each other.
  let told = Promise.resolve()
  const stop = watchPresence((state, of) => {
    told = told.then(() => tell('presence', { state, of }))
  })
  await tell('watching')
  await pass('leave')
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
  await tell('away')
  await pass('return')
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
  await tell('back')
  await pass('stop')
  stop()
  // Coming back doesn't start it again.
  dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
  await tell('stopped')
}
