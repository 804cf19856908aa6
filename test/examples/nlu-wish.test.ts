import { beforeAll, describe, expect, it } from 'vitest'
import { compile, memory } from 'heddle'
import { support } from '../../examples/demo/graph.ts'
import { openShop, type Entry } from '../../examples/demo/orders.ts'
import { trainUnderstanding, type Understand } from '../../examples/nlu/understand.ts'

let understand: Understand
beforeAll(async () => {
  understand = await trainUnderstanding()
})

const talk = {
  'questions about the past': [
    'Was 1043 refunded?',
    'Did you already refund order 1043?',
    'Has order 78 been refunded yet?',
    'why was 1043 refunded?',
    'Were the shirts of 1043 paid back?',
    'have you sent the money for order 78 back',
    'Was 1047 cancelled?',
    'Did somebody cancel order 1047?',
    'Didn’t you refund 1043 last week?',
  ],
  'how long, when, whether': [
    'How long does a refund for 1043 take?',
    'when will I get the refund for 1043',
    'I sent 1043 back, when do I get my refund',
    'Where is my refund for order 1043?',
    'Is a refund possible for order 1043?',
    'I wonder whether I can get my money back for 1043',
    'Can you tell me how a refund works for 1043?',
    'How do I cancel order 1047?',
    'Can 1047 still be cancelled?',
    'Can I get my money back for 1043?',
    'Are you going to refund 1043?',
    'Do you refund shipping for 1043?',
    'please tell me the refund date of 1043',
    'refund order 78?',
  ],
  'what was or is': [
    '1043 was refunded',
    'The refund for 1043 arrived, thank you',
    'A refund for 1043, finally!',
    'thanks for the refund of 1043',
    'I got my money back for order 78',
    'I already have my money back for 1043',
    'You refunded order 78 yesterday',
    'refund for 1043 received',
    'I want a refund receipt for 1043',
    'refund status of order 1043 please',
    'the teapot of order 78 is broken',
    'please refund me, I paid 1043',
  ],
  'third persons': [
    'my neighbour got her money back for 1043, nice',
    'They refunded 1043 in no time',
    'my friend wants a refund for 1043',
    'My sister asked you to refund order 78 last week',
    'She said: I want my money back for 1043',
    '"refund order 78" is what I wrote last week',
    'Everyone gets a refund except me, order 1043',
    'My uncle would like his money back for order 78',
  ],
  conditions: [
    'if I sent 1043 back, would I get my money back?',
    "If it doesn't fit I want my money back for 1043",
    'Would you refund order 1043 if it was broken?',
    'Suppose I return 1043, do I get my money back?',
    'Could you refund 1043 in theory?',
    'I might want a refund for 1043',
    'Please refund order 78 unless it can be repaired',
    'What would happen after I say: refund order 78',
    'Maybe I want a refund for order 78',
    'I am thinking about a refund for order 1043',
  ],
  'a no': [
    "I don't want a refund for 1043, just tell me where it is",
    "Don't refund order 1043",
    'Refund order 1043? No thanks',
    'Refund order 1043. Never mind.',
    "Refund order 78. On second thought, don't.",
    'I want a refund for 1043. Or rather an exchange',
    'Not that I want a refund for 1043',
    'please cancel my refund for order 1047',
    'I never wanted to cancel 1047',
  ],
  'sarcasm and jokes': [
    'Yeah right, give me my money back for 1043 and a pony',
    'Oh sure, refund order 78, as if you ever would',
    'Great, another refund for 1043',
    'I want my money back for 1043, said nobody ever',
    'You can refund me for 1043 when pigs fly',
    'I want a refund for 1043 just kidding',
    'refund order 78 😂',
  ],
  'wordings that nothing was tuned to': [
    'Has anyone looked at my refund for 1043',
    'Good to hear that 1043 was paid back',
    'Your colleague promised a refund for 1043',
    'My mum got a refund for 78 and so did dad',
    'Any chance of a refund for order 1043?',
    'You said you would refund order 78',
    'Is it true that refunds for 1043 go back to the card?',
    'Who approved the refund for order 1043',
    'I received the refund for 1043',
    'Refund of 78 came through',
    'I do not need my money back for 78',
    'no refund for 1043 please',
    'Refunding 1043 would be silly',
    'What if I asked for my money back for 1043',
    'I do hope you never refund order 78',
    'How many days until my money is back for 1043',
    '1043 refunded?',
    'money back for 1043 already, thanks',
    'Should I ask for a refund for 1043?',
    'Give me one reason to refund 1043',
    'please confirm the refund of order 78',
    'Tell my husband I want a refund for 1043',
    'Refund 1043 is missing on my statement',
    'I need the refund number of 1043',
    'Give me a refund policy for 1043',
    'If only I could get a refund for 1043',
    'I want a refund for 1043 like a hole in the head',
    'the refund for order 78 please explain it',
    'Please refund 1043 no wait 78',
    'I should get my money back for 1043',
  ],
}

const requests = [
  'refund order 78',
  'Refund 1043 please',
  'money back for #1043 please',
  'I want my money back for 1043',
  "I'd like my money back for 1043",
  'I would like a refund for 1043, they do not fit',
  'The teapot of order 78 arrived broken, please give me my money back',
  'order 78 came broken. Please pay me back.',
  'Can you refund order 78?',
  'could you please give me my money back for order 1043?',
  'I need a full refund for the broken teapot of order 78',
  '1043: give me my money back now',
  'Hi, I am Ann. Please refund order 1043. Thank you!',
  'Please cancel order 1047',
  'I ordered 1047 by mistake, can you cancel it?',
]

describe.each(Object.entries(talk))('what only speaks of money: %s', (_, texts) => {
  it.each(texts)('%s', async (text) => {
    const desk = openDesk()
    const first = await desk.say(text)
    expect(['interrupted', 'success']).toContain(first)
    if (first === 'interrupted') {
      expect(['confirm-refund', 'which-order']).toContain(await desk.question())
      if ((await desk.question()) === 'which-order') await desk.answer({ text: 'hm, not 1043' })
    }
    if ((await desk.question()) === 'confirm-refund') await desk.answer({ ok: false })
    await desk.goOn()
    expect(desk.ledger).toEqual([])
  })
})

describe('what asks for money', () => {
  it.each(requests)('needs no question: %s', async (text) => {
    const desk = openDesk()
    expect(await desk.say(text)).toBe('waiting')
    await desk.goOn()
    expect(desk.ledger).toHaveLength(1)
  })

  it('is paid after a yes where it was unclear', async () => {
    const desk = openDesk()
    await desk.say('Can I get my money back for 1043?')
    expect(await desk.answer({ ok: true })).toBe('waiting')
    await desk.goOn()
    expect(desk.ledger).toMatchObject([{ kind: 'refund', order: '1043', amount: 48 }])
  })

  it('is approved by a person, too, above the limit', async () => {
    const desk = openDesk()
    await desk.say('Can I get my money back for 1042?')
    expect(await desk.question()).toBe('confirm-refund')
    await desk.answer({ ok: true })
    expect(await desk.question()).toBe('approve-refund')
  })

  it('comes before the question where a parcel is', async () => {
    const desk = openDesk()
    await desk.say('my parcel 1044 never arrived, can you pay me back')
    expect(await desk.question()).toBe('approve-refund')
  })

  it('is confirmed when the order was named with a doubt', async () => {
    for (const [text, asked] of [
      ['78', undefined],
      ['maybe 78', 'confirm-refund'],
      ['78? I am not sure', 'confirm-refund'],
    ] as const) {
      const desk = openDesk()
      await desk.say('I want a refund')
      await desk.answer({ text })
      expect(await desk.question()).toBe(asked)
    }
  })
})

it('answers a question about money with what became of it', async () => {
  const desk = openDesk()
  await desk.say('Was 1043 refunded?')
  expect(await desk.reply()).toMatch(/is delivered\. No money has gone back for it\./)
  await desk.say('refund order 1043')
  await desk.goOn()
  await desk.say('Was 1043 refunded?')
  expect(await desk.reply()).toContain('$48.00 for it went back already, receipt R-0001')
  await desk.say('How long does a refund take?', 'another')
  expect(await desk.reply('another')).toContain('write "refund order" and its number')
})

describe('an order beside a street', () => {
  it.each([
    'Ship 1044 to 12 Oak Street, Springfield instead',
    'ship 1044 to 12 Oak Street',
    'ship 1044 12 Oak Street',
    'please deliver 1044 to my new address, 1042 Hill Road',
  ])('is the one that the shop knows: %s', async (text) => {
    const desk = openDesk()
    await desk.say(text)
    expect(await desk.question()).toBe('new-address')
    await desk.answer({ text: '12 Oak Street' })
    expect(desk.ledger).toMatchObject([{ kind: 'address', order: '1044' }])
  })
})

/** A desk whose bank takes no time to speak of. */
function openDesk() {
  const ledger: Entry[] = []
  const shop = openShop({ entries: () => ledger, add: (entry) => void ledger.push(entry) })
  const app = compile(support({ understand, shop, bankMs: 5 }), { store: memory() })
  return {
    ledger,
    say: async (message: string, thread = 'one') =>
      (await app.run({ thread, input: { message } })).status,
    answer: async (answer: object) => (await app.run({ thread: 'one', answer })).status,
    question: async () => (await app.state('one'))?.interruptions[0]?.key,
    reply: async (thread = 'one') => (await app.state(thread))?.state.reply,
    /** Lets the bank answer, if it was asked. */
    async goOn() {
      if ((await app.state('one'))?.status !== 'waiting') return
      await new Promise((resolve) => setTimeout(resolve, 10))
      await app.run({ thread: 'one' })
    },
  }
}
