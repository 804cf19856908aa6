import { beforeAll, describe, expect, it } from 'vitest'
import { compile, isHeddleError, memory, toMermaid, type Outcome, type StreamEvent } from 'heddle'
import { manualClock, withFaults, type Fault } from 'heddle/testing'
import { newAddress, refundOk } from '../../examples/demo/case.ts'
import { support, type SupportEvent } from '../../examples/demo/graph.ts'
import { openShop, type Entry } from '../../examples/demo/orders.ts'
import { trainUnderstanding, type Understand } from '../../examples/nlu/understand.ts'
import { silent } from '../fakes/silent.ts'

let understand: Understand
beforeAll(async () => {
  understand = await trainUnderstanding()
})

describe('the support desk', () => {
  it('sends a small sum back by itself, once the bank has answered', async () => {
    const desk = openDesk()
    const first = await desk.say(
      'The teapot of order 78 arrived broken, please give me my money back',
    )
    expect(first).toMatchObject({
      status: 'waiting',
      timers: [{ payload: { text: 'the bank checks $34.50' } }],
    })
    expect(desk.ledger).toEqual([])
    const last = await desk.goOn()
    expect(last.state.reply).toMatch(/\$34\.50 for order 78 .* R-0001/)
    expect(desk.ledger).toMatchObject([
      { kind: 'refund', order: '78', amount: 34.5, receipt: 'R-0001' },
    ])
  })

  it('asks a person above the limit, and pays after a yes', async () => {
    const desk = openDesk()
    const asked = await desk.say('refund order 1042 please')
    const [question] = asked.status === 'interrupted' ? asked.interruptions : []
    expect(refundOk.is(question!) && question.payload).toMatchObject({
      order: '1042',
      amount: 59.9,
      customer: 'Ann Larsen',
      why: 'it is more than $50.00',
    })
    await desk.answer(refundOk.reply(question!, { ok: true }))
    await desk.goOn()
    expect(desk.ledger).toMatchObject([{ order: '1042', amount: 59.9 }])
  })

  it('pays nothing after a no, and says so', async () => {
    const desk = openDesk()
    await desk.say('refund order 1042 please')
    const last = await desk.answer({ ok: false })
    expect(last).toMatchObject({
      status: 'success',
      state: { reply: expect.stringContaining('does not send the money back') },
    })
    expect(desk.ledger).toEqual([])
  })

  it.each([
    ['refund order 1043, I paid $60 for it', 'the customer speaks of $60.00'],
    ['refund order A-1043', 'it is still on its way'],
    [
      'I want my money back for 1048, it cost $400',
      'it is more than $50.00, and the customer speaks of $400.00',
    ],
  ])('asks a person where something is odd: %s', async (text, why) => {
    const asked = await openDesk().say(text)
    expect(asked).toMatchObject({ status: 'interrupted', interruptions: [{ payload: { why } }] })
  })

  it('asks for the order when none is named, and not when one is', async () => {
    const desk = openDesk()
    expect(await desk.say('I want a refund')).toMatchObject({
      interruptions: [
        { key: 'which-order', payload: { text: 'What is the number of the order?' } },
      ],
    })
    expect(await desk.answer({ text: "oh sorry, it's 78" })).toMatchObject({ status: 'waiting' })
    expect(await openDesk().say('I want a refund for order 78')).toMatchObject({
      status: 'waiting',
    })
  })

  it('asks which one when several are named', async () => {
    const desk = openDesk()
    expect(await desk.say('refund orders 77 and 78')).toMatchObject({
      interruptions: [
        { payload: { text: 'You mention the orders 77 and 78. Which one is it about?' } },
      ],
    })
    expect(await desk.answer({ text: 'the second, 78' })).toMatchObject({
      status: 'waiting',
      state: { order: '78' },
    })
  })

  it('says what it could not find, asks three times at most, and then ends without doing anything', async () => {
    const desk = openDesk()
    expect(await desk.say('refund order 9999')).toMatchObject({
      interruptions: [{ payload: { text: "I can't find an order 9999. What is its number?" } }],
    })
    await desk.answer({ text: 'hm, no idea' })
    await desk.answer({ text: '9998' })
    const last = await desk.answer({ text: 'B-7' })
    expect(last).toMatchObject({
      status: 'success',
      state: { reply: expect.stringMatching(/can't find an order B-7, so I did nothing/) },
    })
    expect(desk.ledger).toEqual([])
  })

  it.each([
    ['refund order 77', 'it was made for you'],
    ['cancel order 1045', 'it is shipped already'],
    ['please change the delivery address of order 1042', 'it is delivered already'],
  ])('refuses what the rules forbid: %s', async (text, why) => {
    expect((await openDesk().say(text)).state.reply).toContain(why)
  })

  it.each([
    ['Where is order 1045?', 'is shipped; its parcel has the number ZX-55120'],
    ['has order 1044 been sent yet?', 'is being packed'],
    ['what is the status of #1042', 'is delivered'],
  ])('tells where an order is: %s', async (text, where) => {
    expect((await openDesk().say(text)).state.reply).toContain(where)
  })

  it('cancels what has not left, once a person agrees', async () => {
    const desk = openDesk()
    await desk.say('I ordered 1044 by mistake, please cancel it')
    await desk.answer({ ok: true })
    expect((await desk.goOn()).state.reply).toContain('Order 1044 is cancelled and $139.00')
    expect(desk.ledger).toMatchObject([{ kind: 'cancel', order: '1044' }])
  })

  it('sends an order elsewhere, to the address that the customer gives', async () => {
    const desk = openDesk()
    const asked = await desk.say('please send order 1047 to my new address')
    const [question] = asked.status === 'interrupted' ? asked.interruptions : []
    expect(newAddress.is(question!) && question.payload.text).toBe('Where should order 1047 go?')
    await expect(desk.answer({ text: '  ' })).rejects.toThrow(/Cannot accept/)
    await desk.answer({ text: '5 Hill Road, 90210 Town' })
    expect(desk.ledger).toMatchObject([
      { kind: 'address', order: '1047', address: '5 Hill Road, 90210 Town' },
    ])
  })

  it('sends no money back twice, whoever asks', async () => {
    const desk = openDesk()
    await desk.say('refund order 78')
    await desk.goOn()
    const again = await desk.say('refund order 78', 'another')
    expect(again.state.reply).toContain('$34.50 for it went back already, receipt R-0001')
    const status = await desk.say('where is order 78?', 'a third')
    expect(status.state.reply).toBe(
      'Nothing more comes for order 78: $34.50 for it went back already, receipt R-0001.',
    )
    expect(desk.ledger).toHaveLength(1)
  })

  it('keeps the order in mind for the next message of a thread', async () => {
    const desk = openDesk()
    await desk.say('where is order 78?')
    expect(await desk.say('then I want my money back')).toMatchObject({
      interruptions: [
        { payload: { text: 'Do you want your money back for order 78 ($34.50)?' } }, // it is only remembered
      ],
      state: { order: '78' },
    })
  })

  it('says what it can do when it does not understand, in one step and without a question', async () => {
    const desk = openDesk()
    const last = await desk.say('ich möchte mein geld zurück')
    expect(last).toMatchObject({
      status: 'success',
      state: { intent: 'other', reply: expect.stringContaining('I can send money back') },
    })
  })

  it('says each thing once, across all pauses', async () => {
    const desk = openDesk()
    await desk.say('I want a refund')
    await desk.answer({ text: '1042' })
    await desk.answer({ ok: true })
    await desk.goOn()
    expect(desk.said.map((text) => text.replace(/[:(].*/, '').trim())).toEqual([
      'understood',
      'found',
      'decided',
      'paid',
      '$59.90 for order 1042 are on the way back to you. The receipt is R-0001.',
    ])
  })

  it('can be drawn with every way it may take', () => {
    const picture = toMermaid(support({ understand, shop: openShop(memoryLedger([])) }))
    for (const name of [
      'understand',
      'ask',
      'lookup',
      'decide',
      'approve',
      'bank',
      'pay',
      'move',
      'answer',
    ])
      expect(picture).toContain(name)
  })
})

describe('the support desk, whose process dies', () => {
  it('pays once and answers, wherever the process died and whether the last write landed or not', async () => {
    const undisturbed = await through([])
    expect(undisturbed).toMatchObject({
      entries: 1,
      crashes: 0,
      reply: expect.stringContaining('R-0001'),
    })
    expect(undisturbed.operations).toBeGreaterThan(15)
    for (const crash of ['before', 'after'] as const) {
      for (let at = 1; at <= undisturbed.operations; at++) {
        const { entries, crashes, reply } = await through([{ at, crash }])
        expect({ at, crash, entries, crashes, reply }).toEqual({
          at,
          crash,
          entries: 1,
          crashes: 1,
          reply: undisturbed.reply,
        })
      }
    }
  })

  /** Brings one refund to its end, as the demo does: a new process after every death. */
  async function through(faults: readonly Fault[]) {
    const clock = manualClock('2026-03-01T00:00:00Z')
    const ledger: Entry[] = []
    const parts = { understand, shop: openShop(memoryLedger(ledger)) }
    let store = withFaults(memory(), faults)
    for (let crashes = 0; ;) {
      const app = compile(support(parts), { store, clock, leaseMs: 2_000, logger: silent })
      try {
        const now = await app.state('one')
        if (now?.status === 'success')
          return {
            entries: ledger.length,
            crashes,
            reply: now.state.reply,
            operations: store.log.length,
          }
        if (now?.status === 'waiting') await clock.advance(3_000)
        if (!now) await app.run({ thread: 'one', input: { message: 'refund order 1042 please' } })
        else if (now.status === 'interrupted')
          await app.run({
            thread: 'one',
            answers: refundOk.reply(now.interruptions[0]!, { ok: true }),
          })
        else await app.run({ thread: 'one' })
      } catch (error) {
        if (!store.crashed && !isHeddleError(error, 'thread_busy')) throw error
        if (store.crashed) {
          store = store.restart()
          crashes++
        }
        await clock.advance(2_001)
      }
    }
  }
})

describe('the shop', () => {
  it('does nothing again for a key it knows', () => {
    const ledger: Entry[] = []
    const shop = openShop(memoryLedger(ledger))
    const wanted = { key: 'k', kind: 'address', order: '1044', address: 'x' } as const
    expect(shop.record(wanted)).toEqual(shop.record(wanted))
    expect(ledger).toHaveLength(1)
    shop.record({ ...wanted, key: 'l' })
    expect(ledger).toHaveLength(2)
  })

  it('sends the money of an order back once, also for two keys', () => {
    const ledger: Entry[] = []
    const shop = openShop(memoryLedger(ledger))
    shop.record({ key: 'k', kind: 'refund', order: '78', amount: 34.5 })
    expect(shop.record({ key: 'l', kind: 'cancel', order: '78', amount: 34.5 }).key).toBe('k')
    expect(ledger).toHaveLength(1)
  })
})

/** A desk whose bank takes no time to speak of. */
function openDesk() {
  const ledger: Entry[] = []
  const said: string[] = []
  const app = compile(support({ understand, shop: openShop(memoryLedger(ledger)), bankMs: 5 }), {
    store: memory(),
  })

  async function follow(
    run: AsyncIterable<StreamEvent<string, unknown, SupportEvent>> & {
      outcome: Promise<Outcome<Case>>
    },
  ) {
    for await (const event of run) if (event.kind === 'backend') said.push(event.data.text)
    return run.outcome
  }
  type Case = Awaited<ReturnType<typeof app.run>>['state']

  return {
    ledger,
    said,
    say: (message: string, thread = 'one') => follow(app.stream({ thread, input: { message } })),
    async answer(value: object) {
      const [id, ...more] = Object.keys(value)
      return follow(
        id?.startsWith('int_') && more.length === 0
          ? app.stream({ thread: 'one', answers: { ...value } })
          : app.stream({ thread: 'one', answer: value }),
      )
    },
    async goOn() {
      await new Promise((resolve) => setTimeout(resolve, 10))
      return follow(app.stream({ thread: 'one' }))
    },
  }
}

function memoryLedger(list: Entry[]) {
  return { entries: () => list, add: (entry: Entry) => void list.push(entry) }
}
