import { beforeAll, describe, expect, it } from 'vitest'
import type { Message, Model, ModelEvent } from 'heddle'
import { localNlu } from '../../examples/nlu/model.ts'

let model: Model
beforeAll(async () => {
  model = await localNlu()
})

const user = (said: string): Message => ({ role: 'user', id: said, text: said, createdAt: '' })
const found = (value: object): Message => result('find_order', { value })
const refunded = (rest: object): Message => result('refund', rest)

describe('the small model', () => {
  it('looks an order up before anything else, and only by tools that it was offered', async () => {
    const asked = [user('could you give the money back for order 77')]
    expect(await calls(asked)).toEqual([['find_order', { order: '77' }]])
    expect(await calls(asked, [])).toEqual([])
    expect(await text(asked, [])).toMatch(/^I can tell you where an order is/)
  })

  it('tells where an order is, from what was found', async () => {
    const asked = [user('Where is order 1042?'), found({ total: 59.9, state: 'delivered' })]
    expect(await text(asked)).toBe('Order 1042 over $59.90 is delivered.')
  })

  it('asks for what was found, or for what the customer speaks of', async () => {
    const order = found({ total: 59.9, state: 'delivered' })
    expect(await calls([user('Refund order 1042 please'), order])).toEqual([
      ['refund', { order: '1042', amount: 59.9 }],
    ])
    expect(await calls([user('Please refund $20 for order 1042'), order])).toEqual([
      ['refund', { order: '1042', amount: 20 }],
    ])
  })

  it('says how a refund ended, a denial with its reason', async () => {
    const asked = [user('Refund order 1042 please'), found({ total: 5, state: 'delivered' })]
    expect(await text([...asked, refunded({ value: 'R-1' })])).toMatch(/1042 is on its way to you/)
    const denied = refunded({ status: 'denied', text: 'Denied: ask the manager' })
    expect(await text([...asked, denied])).toBe(
      'The money for order 1042 stays here: ask the manager',
    )
  })

  it('asks for a number that it was not given, and takes it alone', async () => {
    const asked = [user('I want a refund')]
    expect(await text(asked)).toBe('What is the number of the order?')
    expect(await calls([...asked, user('1042')])).toEqual([['find_order', { order: '1042' }]])
    expect(await text([user('Where is order 9?'), found({ missing: '9' })])).toMatch(
      /can't find an order 9/,
    )
  })

  it('keeps the order in mind, and starts over with each message', async () => {
    const before = [user('Where is order 1042?'), found({ total: 5, state: 'delivered' })]
    expect(await calls([...before, user('Then I want my money back')])).toEqual([
      ['find_order', { order: '1042' }],
    ])
  })

  it('does nothing where it is not sure what is wanted', async () => {
    for (const said of ['translate this for order 7', 'hello', 'ich möchte mein geld zurück', ''])
      expect(await calls([user(said)])).toEqual([])
  })

  it('ends with how many tokens it read and wrote', async () => {
    const events = await answer([user('Where is order 1042?')])
    expect(events.at(-1)).toEqual({
      kind: 'finish',
      reason: 'calls',
      usage: { input: 5, output: expect.any(Number) },
    })
    expect(events[0]).toEqual({ kind: 'reasoning', delta: expect.stringMatching(/^status 1042, /) })
  })
})

const BOTH = ['find_order', 'refund']

async function answer(messages: readonly Message[], offered = BOTH): Promise<ModelEvent[]> {
  const tools = offered.map((name) => ({ name, description: '', parameters: {} }))
  const { signal } = new AbortController()
  const events: ModelEvent[] = []
  for await (const event of model.stream({ messages, tools }, { signal, call: 'call_1' }))
    events.push(event)
  return events
}

async function calls(messages: readonly Message[], offered?: string[]): Promise<unknown[]> {
  const events = await answer(messages, offered)
  return events.flatMap((event) =>
    event.kind === 'call' ? [[event.tool, JSON.parse(event.raw)]] : [],
  )
}

async function text(messages: readonly Message[], offered?: string[]): Promise<string> {
  const events = await answer(messages, offered)
  return events.map((event) => (event.kind === 'text' ? event.delta : '')).join('')
}

function result(tool: string, rest: object): Message {
  const message = { role: 'tool', id: tool, call: tool, tool, status: 'success', text: '' } as const
  return { ...message, createdAt: '', ...rest }
}
