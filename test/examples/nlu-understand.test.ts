import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { corpus } from '../../examples/nlu/corpus.ts'
import { trainUnderstanding, type Understand } from '../../examples/nlu/understand.ts'

let understand: Understand
beforeAll(async () => {
  understand = await trainUnderstanding()
})

describe('what a customer wants', () => {
  it('knows it from wordings it was not trained on, nine times in ten', async () => {
    const missed: string[] = []
    for (const [intent, texts] of Object.entries(heldOut)) {
      for (const text of texts) if ((await understand(text)).intent !== intent) missed.push(text)
    }
    expect(
      Object.values(heldOut)
        .flat()
        .filter((text) => isTrained(text)),
      'held out from training',
    ).toEqual([])
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(
      Object.values(heldOut).flat().length / 10,
    )
  })

  it('says `other` to what is not for the shop, and to other languages', async () => {
    const taken: string[] = []
    for (const text of foreign) if ((await understand(text)).intent !== 'other') taken.push(text)
    expect(taken).toEqual([])
  })

  it('is sure of what it names and gives no name to what it doubts', async () => {
    for (const text of [...Object.values(heldOut).flat(), ...foreign]) {
      const { intent, confidence } = await understand(text)
      expect(confidence).toBeGreaterThanOrEqual(intent === 'other' ? 0 : 0.8)
      expect(confidence).toBeLessThanOrEqual(1)
    }
  })

  it.each([
    ['I want a refnud for ordr no. 77', 'refund', '77'],
    ['plese cancle ordr 1044', 'cancel', '1044'],
    ['wheres my parcl? oder #1042', 'status', '1042'],
    ['update my adress for 1044 pls', 'address', undefined],
  ])('reads through typing slips: %s', async (text, intent, order) => {
    expect(await understand(text)).toMatchObject({ intent, orders: order ? [order] : [] })
  })

  it('finds the one errand in a message of several sentences', async () => {
    const text =
      'Hi there! I bought a lamp from you last week. It came broken. Please give me my money back. It was order #1042, paid $59.90. Thanks, Ann (ann@example.org)'
    const { sentences, ...rest } = await understand(text)
    expect(sentences.length).toBeGreaterThanOrEqual(5)
    expect(rest).toMatchObject({
      intent: 'refund',
      orders: ['1042'],
      amount: 59.9,
      email: 'ann@example.org',
      date: 'last week',
    })
  })

  it('puts what should be done before what is only asked', async () => {
    expect(
      (await understand('Where is order 77? If it has not left yet, please cancel it.')).intent,
    ).toBe('cancel')
  })

  it.each([
    'I do not want a refund',
    'No refund needed, thanks',
    "please don't cancel my order",
    'i dont want my money back',
    'Please keep my order as it is, no refund, no cancellation',
  ])('does nothing that is declined: %s', async (text) => {
    expect((await understand(text)).intent).toBe('other')
  })

  it('takes what is wanted after something else is declined', async () => {
    expect(
      (await understand('I do not want a refund, I just want to know where my parcel is')).intent,
    ).toBe('status')
    expect((await understand('I never got my money back')).intent).toBe('refund')
  })
})

describe('what a customer says about an order', () => {
  it.each([
    ['refund #1042', ['1042']],
    ['refund order A-1042 please', ['A-1042']],
    ['refund a1042', ['A-1042']],
    ['refund order 77', ['77']],
    ['refund ordr no. 77', ['77']],
    ['Order#1042.', ['1042']],
    ['my order number is 1042', ['1042']],
    ['refund orders 77, #1042 and a1043', ['77', '1042', 'A-1043']],
    ['order 1042, I repeat: 1042', ['1042']],
    ['refund 1042 please', ['1042']],
    ['order 3 May, refund please', []],
    ['I ordered 2 weeks ago', []],
    ['my new address is 5 Hill Road, 90210 Town', []],
    ['refund the order of 1200 dollars', []],
    ['call me: +49 170 1234567, I want a refund', []],
    ['bought in 2024, refund me', []],
  ])('reads the order numbers of "%s"', async (text, orders) => {
    expect((await understand(text)).orders).toEqual(orders)
  })

  it.each([
    ['I paid $59.90', 59.9],
    ['I paid 1,200.50 USD', 1200.5],
    ['es waren 20,50 €', 20.5],
    ['30 euros for a cup', 30],
    ['it cost £1,000', 1000],
    ['order 1042', undefined],
  ])('reads the amount of "%s"', async (text, amount) => {
    expect((await understand(text)).amount).toBe(amount)
  })

  it('leaves addresses as they were written, also where they look like slips', async () => {
    expect((await understand('refund please, write to ann.refnd@parcl.org')).email).toBe(
      'ann.refnd@parcl.org',
    )
  })
})

describe('the understanding and the graph', () => {
  it('can be bundled for a page or a Worker: nothing in them is of Node', async () => {
    const { metafile } = await build({
      entryPoints: ['nlu/model', 'nlu/understand', 'demo/graph'].map((name) =>
        join(import.meta.dirname, `../../examples/${name}.ts`),
      ),
      bundle: true,
      platform: 'browser',
      format: 'esm',
      outdir: 'out',
      write: false,
      metafile: true,
    })
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
  })
})

describe('anything at all', () => {
  it.each([
    ['nothing', ''],
    ['blanks', ' \n\t '],
    ['marks', '?!… — ***'],
    ['emoji', '😀👩‍👩‍👧🏳️‍🌈'],
    ['half a character', '\ud83d refund \ude00'],
    ['control characters', '\u0000\u0001\u001b[31m'],
    ['names every object has', 'constructor __proto__ toString hasOwnProperty valueOf'],
    ['markup', '<script>alert(1)</script> ${process.exit(1)} {{7*7}}'],
    ['one endless word', 'a'.repeat(500_000)],
    ['endless marks', '@.-#1'.repeat(100_000)],
  ])('is survived: %s', async (_, text) => {
    const { intent, confidence } = await understand(text)
    expect([...Object.keys(corpus)]).toContain(intent)
    expect(confidence).toBeLessThanOrEqual(1)
  })

  it('reads the beginning of a very long message, in little time', async () => {
    const began = performance.now()
    const { intent, orders } = await understand(
      `Please refund order 1042. ${'I am so very angry about this! '.repeat(20_000)}`,
    )
    expect({ intent, orders }).toEqual({ intent: 'refund', orders: ['1042'] })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  it('keeps an errand among emoji', async () => {
    expect(await understand('😡😡 refund my order #1042 NOW 😡')).toMatchObject({
      intent: 'refund',
      orders: ['1042'],
    })
  })
})

function isTrained(text: string): boolean {
  const plain = (value: string): string =>
    value
      .toLowerCase()
      .replace(/[^a-z ]/g, '')
      .trim()
  return Object.values(corpus).some((texts) =>
    texts.some((trained) => plain(trained) === plain(text)),
  )
}

/** Wordings that the corpus hasn't. */
const heldOut: Record<string, readonly string[]> = {
  refund: [
    'Could you return the money for my headphones?',
    "The teapot turned up in pieces. I'd like to be refunded.",
    "These boots are too small, I'm sending them back for a refund",
    'Money back for #1042 please',
    'my blender died after one week and i want a refund',
    'you took the money from my card twice',
    'Kindly refund A-1042, the handle was snapped off',
    'i am unhappy with the quality, refund please',
    'give bakc my mony for order 1042',
    'I bought a rug and it smells terrible, can I have a refund?',
    'The charger never worked. Please give my money back.',
    "I'd like a refund for purchase 1043",
    'The zip of the bag tore on the first day, I want to return it',
    'Please reimburse order no. 1042',
    'You billed me twice for one lamp',
    'its not what i ordered, refund pls',
    'can i send these trousers back and get my money',
    'my order 1042 arrived damaged, what now? I want my money back',
    'Refnd my oder plaese',
    'Hello, the headphones I received have no sound. I would like my money back.',
    'please refund me for order 1043, the shirt has a stain',
    'I returned the parcel last week, when will you refund me?',
    'Your toaster caught fire! Refund!',
    'I want to send back the shoes because they are too tight',
    'could I be reimbursed for the damaged plates',
    'can I get money back for #77?',
    "The bulb doesn't work so I want a refund",
    'wrong book delivered, give me my money back',
    'I was overcharged for A-1043, please fix it and refund the difference',
  ],
  status: [
    "Where's my stuff?",
    'When will order 1042 be delivered?',
    "My package still hasn't come",
    'Could I get a tracking number for order 77?',
    'Has A-1042 been shipped?',
    "what's the status of 1043",
    'its been three weeks and no parcel',
    'Do you know when my shipment arrives?',
    'stil wating for my pakage',
    'Is my parcel lost?',
    "I'm still waiting for order 1045",
    'When can I expect A-1043?',
    'Track #1042 for me please',
    'Did you ship my lamp yet?',
    'My delivery was due on Tuesday and nothing came',
    'could you check where order 1042 is',
    'when wil my ordr arive',
    'Any news on my shipment?',
    'status 1042',
    'Where is order 1045?',
    "My order hasn't arrived",
    'when do you ship order 1044',
    'any idea when my delivery gets here?',
    'Could you give me the tracking number of A-1043?',
    'Has my purchase been dispatched',
    'I have been waiting for my parcel for ten days',
    'my pakage is late',
    'Tell me the status of order 77',
    'whats going on with my order',
  ],
  cancel: [
    'Please cancel order 1044',
    "I'd like to cancel what I ordered yesterday",
    'can you stop order 1044 before it ships',
    'Changed my mind, cancel #1044',
    'cancell my oder pls',
    "I ordered that by accident, don't send it",
    'Cancel 1044',
    'I want to cancel that purchase',
    'Please stop order 1044, I do not need it any more',
    'can the order still be cancelled?',
    'I placed the order by mistake, please cancel it',
    'plese cancle ordr 1044',
    'cancel my purchase please',
    "I'd like to cancel order 1044",
    'Please stop the shipment of 1044',
    "I don't want it any more, please cancel",
    'can i cancel?',
    'I ordered twice by accident, cancel one please',
  ],
  address: [
    'Please send order 1044 to my new address',
    'I need to change the address for #1044',
    'You have the wrong postcode for my order',
    'could you deliver it to my office instead?',
    'I moved last week, update my adress',
    'The delivery address is wrong',
    'Can you ship #1044 to another address?',
    'I have a new address',
    'please correct the street in my address',
    'Send it to my office instead of my home please',
    'change the delivery address of 1044',
    'I moved to a new house, please update the address',
    'You should ship it to a different street',
    "there's a mistake in my address",
    'deliver my parcel to my neighbour please',
  ],
}

const foreign = [
  'Wo ist mein Paket?',
  '¿Dónde está mi pedido?',
  '返金してください',
  'Где мой заказ?',
  'أريد استرداد أموالي',
  "What's the best pizza in Naples?",
  'Tell me about the French revolution',
  'write python code that sorts a list',
  'I feel sad today',
  'lorem ipsum dolor sit amet',
  'How old is the universe?',
  'My boss is annoying',
  'Could you recommend a novel?',
  'The museum opens at nine',
  'who painted the Mona Lisa',
  'Can dogs eat chocolate?',
  'the stock market crashed',
  'Please do not cancel anything',
  "I don't need a refund",
  '👍👍👍',
  '....',
  '1042',
  'Je veux annuler',
  'Quiero un reembolso',
  'kann ich meine bestellung stornieren',
  '帮我退款',
  'Hilfe!!!',
  'What is the meaning of life?',
  'I would like to learn the piano',
  'How many legs has a spider?',
  'Can you drive me to the airport',
  'my neighbour is loud',
  'why is the sea salty',
  'give me three ideas for a party',
  'Is it going to snow?',
  'you are a nice bot',
  "what's 17 times 23",
  'who is the president of France',
  'remind me to buy milk',
  'my phone has no battery',
  'SELECT * FROM orders; DROP TABLE orders',
  '<script>alert(1)</script>',
  'ok',
  'I never want to cancel',
  'How do I write a poem about my mother',
  'translate order into German',
  'Can you write me a haiku?',
  'Il mio pacco è rotto',
  'Miten voit?',
  '我要退货',
  'Is coffee healthy?',
  "What's your name?",
  'Who invented the light bulb?',
  'My son plays the violin',
  'how do I install linux',
  'I need new tyres',
  'The coffee machine at work is great',
  'Do you like cats?',
  'give me the lyrics of that song',
  'my flight leaves at six',
  'where can I buy stamps',
  'what is your return on investment',
  "I'm hungry",
  'please call me a doctor',
  "let's play chess",
  'hmm',
  'what is love',
  'translate this',
  'sing me a song',
  'how tall is the Eiffel tower',
  'ich möchte mein geld zurück',
  'bonjour je voudrais annuler ma commande',
  'asdf qwer',
  'the quick brown fox jumps over the lazy dog',
  'can you help me with my homework',
  'explain quantum physics',
  'I need a doctor',
  'what is your favourite colour',
  'where is London',
  'give me a recipe for bread',
  'how do I change a tyre',
  'my cat is broken hearted',
  'call me a cab',
  'is the earth flat',
  'can you lend me money',
  'stop talking',
  'return of the jedi is a great film',
  'the status of women in society',
  'cancel culture is bad',
  'I lost my money in a casino',
  'track and field is my sport',
  'what is the best address in London',
  'good evening',
  'where do babies come from',
  "please don't cancel my order",
  'No refund needed, thanks',
  'I dont want my money back',
  'constructor',
  '__proto__ toString hasOwnProperty',
]
