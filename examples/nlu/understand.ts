import { containerBootstrap } from '@nlpjs/core'
import { LangEn } from '@nlpjs/lang-en-min'
import { NluNeural } from '@nlpjs/nlu'
import model from 'wink-eng-lite-web-model'
import winkNLP, { type ItemSentence, type ItemToken } from 'wink-nlp'
import { corpus, type Intent } from './corpus.ts'
import { readDetails, withoutDetails, withoutOrders, type Details, type Entity } from './details.ts'
import { speller } from './spelling.ts'
import { readWish, requests, type Wish, type Word } from './wish.ts'

/** What is made of a message. */
export interface Understanding extends Details {
  readonly intent: Intent
  /** How sure it is, 0 to 1. Below 0.8 the intent is `other`. */
  readonly confidence: number
  readonly sentences: readonly string[]
  /** How clearly money is asked for; `none` for errands that move none. */
  readonly wish: Wish
}

/** Reads a message of any wording. Never throws. */
export type Understand = (text: string) => Promise<Understanding>

interface Guess {
  readonly intent: Intent
  readonly score: number
}

const SURE = 0.8
const LONGEST = 4_000
const INTENTS = Object.keys(corpus) as readonly Intent[]
const OTHER: Guess = { intent: 'other', score: 1 }

/** What "I don't want …" turns into nothing to do. */
const REFUSABLE: { readonly [K in Intent]?: readonly string[] } = {
  refund: ['refund', 'money', 'cash', 'reimbursement', 'reimburse', 'compensation'],
  cancel: ['cancel', 'cancellation'],
  address: ['change', 'redirect'],
}
const WISHES = ['want', 'need', 'wish', 'require', 'ask', 'asking']

/**
 * Trains a small language understanding model, in some 100 ms and without a network: wink-nlp's English model finds
 * sentences, negations and facts, a neural classifier of nlp.js what a sentence is about. It isn't an LLM: it knows
 * four errands of a shop's customers, in English, and says `other` to everything else.
 */
export async function trainUnderstanding(): Promise<Understand> {
  const wink = winkNLP(model, ['sbd', 'negation', 'ner', 'pos'])
  const examples = INTENTS.flatMap((intent) =>
    corpus[intent].map((utterance) => ({ utterance, intent })),
  )
  const correct = speller(examples.flatMap(({ utterance }) => words(utterance)))
  const classifier = await trainClassifier(examples)
  const vocabulary = await readVocabulary(classifier)

  const entitiesOf = (text: string): readonly Entity[] =>
    wink.readDoc(text).entities().out(wink.its.detail) as unknown as Entity[]

  /** What a sentence is about, and whether there is enough in it to say so. */
  async function classify(sentence: string): Promise<Guess> {
    const plain = words(withoutDetails(sentence, entitiesOf(sentence))).join(' ')
    if (plain === '') return OTHER
    const tokens = wink.readDoc(plain).tokens()
    const content = await stems(
      classifier,
      tokens
        .filter((token) => !token.out(wink.its.stopWordFlag))
        .out()
        .join(' '),
    )
    const { intent, score } = (await classifier.process(` ${plain}`)).classifications[0]!
    if (!isIntent(intent) || intent === 'other') return OTHER
    const known = content.filter((stem) => vocabulary.all.has(stem))
    const tells = (stem: string): boolean => vocabulary.telling[intent].has(stem)
    const enough = content.length / (content.filter(tells).length > 1 ? 3 : 2) // more strange words are fine when two say the same
    if (known.length < enough || !(await stems(classifier, plain)).some(tells))
      return { intent: 'other', score: 1 - score / 2 }
    return { intent, score }
  }

  /** The words of a text, by sentences. */
  function tagged(text: string): readonly (readonly Word[])[] {
    const sentences: Word[][] = []
    wink
      .readDoc(withoutOrders(text))
      .sentences()
      .each((sentence: ItemSentence) => {
        const tags = sentence.tokens().out(wink.its.pos)
        const texts = sentence.tokens().out(wink.its.normal)
        sentences.push(texts.map((word, at) => ({ text: word, tag: tags[at]! })))
      })
    return sentences
  }

  /** The stretches of a sentence that a "not" or "no" governs. */
  function denied(sentence: string): readonly (readonly string[])[] {
    const stretches: string[][] = [[]]
    wink
      .readDoc(sentence)
      .tokens()
      .each((token: ItemToken) => {
        if (token.out(wink.its.negationFlag)) stretches.at(-1)!.push(token.out().toLowerCase())
        else stretches.push([])
      })
    return stretches
  }

  return async (message) => {
    const raw = tame(message)
    const text = correct(raw)
    const sentences = wink
      .readDoc(text)
      .sentences()
      .out()
      .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
    const refused = INTENTS.filter((intent) =>
      sentences.some((sentence) => isRefused(intent, sentence, denied(sentence))),
    )
    const guesses: Guess[] = []
    for (const parts of [sentences, sentences.flatMap(clauses), [sentences.join(' ')]]) {
      if (!guesses.some(isSure)) guesses.push(...(await Promise.all(parts.map(classify))))
    }
    if (!guesses.some((guess) => isSure(guess) && guess.intent !== 'status'))
      guesses.push(...(await Promise.all(requests(tagged(text)).map(classify)))) // money before news
    const { intent, score } = choose(guesses.filter((guess) => !refused.includes(guess.intent)))
    return {
      intent,
      confidence: score,
      sentences,
      wish: intent === 'refund' || intent === 'cancel' ? readWish(tagged(raw)) : 'none', // no slip is corrected where money is at stake
      ...readDetails(text, entitiesOf(text), { bare: intent !== 'address' }),
    }
  }
}

async function trainClassifier(
  examples: readonly { readonly utterance: string; readonly intent: Intent }[],
): Promise<NluNeural> {
  const container = containerBootstrap()
  container.use(LangEn)
  const classifier = new NluNeural({ locale: 'en', container, log: false, useNoneFeature: true })
  await classifier.train(examples, { log: false, useNoneFeature: true })
  return classifier
}

interface Vocabulary {
  readonly all: ReadonlySet<string>
  /** Stems that say more about an intent than about no intent. */
  readonly telling: { readonly [K in Intent]: ReadonlySet<string> }
}

async function readVocabulary(classifier: NluNeural): Promise<Vocabulary> {
  const shares = new Map<Intent, Map<string, number>>()
  for (const intent of INTENTS) {
    const share = new Map<string, number>()
    for (const utterance of corpus[intent]) {
      for (const stem of await stems(classifier, utterance))
        share.set(stem, (share.get(stem) ?? 0) + 1 / corpus[intent].length)
    }
    shares.set(intent, share)
  }
  const elsewhere = shares.get('other')!
  const telling = (intent: Intent): ReadonlySet<string> =>
    new Set(
      [...shares.get(intent)!]
        .filter(([stem, share]) => share > 2 * (elsewhere.get(stem) ?? 0))
        .map(([stem]) => stem),
    )
  return {
    all: new Set([...shares.values()].flatMap((share) => [...share.keys()])),
    telling: {
      refund: telling('refund'),
      status: telling('status'),
      cancel: telling('cancel'),
      address: telling('address'),
      other: new Set(),
    },
  }
}

/** The leading space keeps a text from being the name of something every object has, as `constructor` is. */
async function stems(classifier: NluNeural, text: string): Promise<readonly string[]> {
  return text === '' ? [] : Object.keys(await classifier.prepare(` ${text}`))
}

/** The parts of a sentence that say something by themselves: "my mixer died and I want a refund". */
function clauses(sentence: string): readonly string[] {
  return sentence
    .split(/[,;:()–—]|\b(?:and|but|so)\b/i)
    .filter((clause) => words(clause).length > 2)
}

/** What was wanted in the surest words; who wants something done only asks about the order's state on the way. */
function choose(guesses: readonly Guess[]): Guess {
  const sure = guesses.filter(isSure).sort((a, b) => b.score - a.score)
  const doubt = Math.max(
    0,
    ...guesses.filter(({ intent }) => intent !== 'other').map(({ score }) => score),
  )
  return (
    sure.find(({ intent }) => intent !== 'status') ??
    sure[0] ?? { intent: 'other', score: 1 - doubt }
  )
}

function isSure({ intent, score }: Guess): boolean {
  return intent !== 'other' && score >= SURE
}

function isIntent(name: string): name is Intent {
  return Object.hasOwn(corpus, name)
}

/** Whether a sentence says that this is what isn't wanted: "no refund", "I don't want my money back". */
function isRefused(
  intent: Intent,
  sentence: string,
  denied: readonly (readonly string[])[],
): boolean {
  if (/\bwhy\b/i.test(sentence)) return false
  const refuses = (word: string): boolean => REFUSABLE[intent]?.includes(word) ?? false
  return denied.some(
    ([first = '', ...rest]) =>
      refuses(first) || (WISHES.includes(first) && rest.slice(0, 3).some(refuses)),
  )
}

/** A text of bearable length, in letters that the models know how to read. */
function tame(message: string): string {
  const text = message
    .slice(0, LONGEST)
    .replace(/\p{Surrogate}/gu, ' ')
    .normalize('NFKC')
    .replace(/[‘’`´]/g, "'")
  return text
    .replace(/\S{60,}/gu, ' ')
    .replace(/\b(?:do|does|did|ca|wo|has|have|is|was)nt\b/gi, (word) => `${word.slice(0, -1)}'t`)
}

function words(text: string): readonly string[] {
  return (text.toLowerCase().match(/\p{L}+(?:'\p{L}+)?/gu) ?? []).filter((word) => !(word in {}))
}
