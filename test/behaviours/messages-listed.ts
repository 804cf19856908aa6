// What is listed of messages, and what forks have of them.
import { compile, graph, type Message } from 'heddle'
import { options, saying, texts, user } from './messages-parts.ts'
import { all, equal, refusedWith, type Cases } from './portable.ts'

export const listed: Cases = {
  async 'the last messages are listed, those before one of them, by tenant'(reopen) {
    const steps = Array.from({ length: 120 }, (_, n) => () => [user(`${n}`, `m${n}`)])
    const said = saying(
      ...steps,
      () => [user('last', 'm3'), { remove: 'm118' }],
      () => [user('again', 'm118'), user('5', 'm5')],
    )
    const app = compile(said, options(await reopen(), { stepLimit: 200 }))
    const { state } = await app.run({ thread: 't', input: {} })
    equal(state.chat.length, 120, 'messages')
    equal(await app.messages('t'), state.chat.slice(-100), 'the last hundred')
    equal(await app.messages('t', { limit: Infinity }), state.chat, 'all')
    for (const limit of [0, 1, 2, 3, 50]) {
      equal(
        await app.messages('t', { limit }),
        limit ? state.chat.slice(-limit) : [],
        `the last ${limit}`,
      )
      for (const before of ['m118', 'm119', 'm60', 'm3', 'm0']) {
        const at = state.chat.findIndex(({ id }) => id === before)
        const expected = state.chat.slice(Math.max(0, at - limit), at)
        equal(await app.messages('t', { limit, before }), expected, `${limit} before ${before}`)
      }
    }
    equal(await app.messages('t', { before: 'none' }), [], 'before one that is none')
    equal(await app.messages('nobody'), [], 'of no thread')
    const tenant = app.tenant('ann')
    equal(await tenant.messages('t'), [], 'of another tenant')
    await tenant.run({ thread: 't', input: { chat: [user('mine')], step: 122 } })
    equal(texts(await tenant.messages('t')), ['mine'], 'of a tenant')
    const none = compile(
      graph({ name: 'none', state: {}, nodes: { a: () => {} }, edges: { start: 'a', a: 'end' } }),
      {
        store: await reopen(),
      },
    )
    await none.run({ thread: 'n', input: {} })
    equal(await none.messages('n'), [], 'of a graph without any')
  },

  async 'a fork has the messages of its checkpoint, or others, and goes on from there'(reopen) {
    const said = saying(
      () => [user('a')],
      () => [user('b')],
      (list) => [{ ...list[0]!, text: 'A' }],
    )
    const app = compile(said, options(await reopen()))
    await app.run({ thread: 't', input: {} })
    const past = await all(app.history('t'))
    equal(
      past.map(({ state }) => texts(state.chat).join('')),
      ['Ab', 'ab', 'a', ''],
      'history',
    )
    const [, , one] = past as [unknown, unknown, (typeof past)[0]]
    await app.fork('t', { from: one.checkpoint, to: 'u' })
    equal(await app.messages('u'), one.state.chat, 'of a new thread')
    equal(texts((await app.run({ thread: 'u' })).state.chat), ['A', 'b'], 'as it goes on')
    await app.fork('t', {
      from: one.checkpoint,
      update: { chat: [user('z'), ...one.state.chat] as Message[] },
    })
    const [z, a] = await app.messages('t')
    equal([z?.text, a], ['z', one.state.chat[0]], 'others')
    equal(z?.id.startsWith('msg_'), true, 'an id')
    equal(texts((await app.run({ thread: 't' })).state.chat), ['A', 'a', 'b'], 'as it goes on')
    const error = await refusedWith('schema_error', () =>
      app.fork('t', { from: one.checkpoint, update: { chat: [{ remove: a!.id }] as never } }),
    )
    equal(error.details.field, 'chat', 'a removal from nothing')
  },
}
