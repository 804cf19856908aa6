/** How clearly a message asks for money: in so many words, maybe, or it only speaks of it. */
export type Wish = 'clear' | 'unclear' | 'none'

/** A word, in small letters, with its part of speech as a language model sees it: `NOUN`, `VERB`, `PUNCT`… */
export interface Word {
  readonly text: string
  readonly tag: string
}

const THING = String.raw`(?:my order|it|this|that|them|(?:my|the|this|that|these|those|a|an) (?:(?:broken|damaged|faulty|defective|N) ?)+(?: (?:of|from|in) my order)?)`
const MONEY = String.raw`(?:(?:a|my|the|all|full|complete|immediate|of) )*(?:refund|reimbursement|money back|cash back|money|cash)`
const GIVE = String.raw`(?:(?:refund|reimburse)(?: (?:me|${MONEY}|${THING}))?|(?:give|get|send|pay|put|return|transfer)(?: me)?(?: back)? ${MONEY}(?: back)?|pay me back)`
const STOP = `(?:cancel|stop|void|call off|withdraw)(?: ${THING})?`
const LEAD = '(?:(?:hi|hello|hey|please|pls|plz|kindly|just|then|therefore|also|now|to) )*'
const TAIL = String.raw`(?: (?:back|please|pls|plz|now|today|asap|immediately|quickly|right (?:now|away)|at once|in full|thanks|thank you|to my (?:card|account|bank account)|(?:for|of|on) ${THING}))*`
const WANT = String.raw`(?:i|we) (?:(?:really|just|now|hereby|therefore) )*(?:want|need|demand|request|insist on|ask for|(?:would|'d) (?:really )?like)`

const REQUEST = new RegExp(
  `^${LEAD}(?:${GIVE}|${STOP}|(?=.*\\b(?:please|pls|plz)\\b)${MONEY}|${WANT} (?:${MONEY}|to (?:be (?:refunded|reimbursed)|(?:get|have) ${MONEY}|${STOP})|you to (?:${GIVE}|${STOP})))${TAIL}$`,
)
const POLITE = new RegExp(
  `^${LEAD}(?:(?:can|could) you|(?:would|will) you please) ${LEAD}(?:${GIVE}|${STOP})${TAIL}$`,
)
const TOPIC =
  /\b(?:re-?fund\w*|money|cash|reimburs\w*|compensat\w*|pa(?:y|id|ys|ying) (?:\w+ )?back|cancel\w*)\b/
const ASKING =
  /^(?:(?:hi|hello|hey|so|and|but|well|ok|okay|um|please|also) )*(?:was|were|did|does|do|has|have|had|is|are|am|how|when|why|what|where|who|which|whose|will|would|should|shall|may|might|if|suppose|imagine)\b|\b(?:how|when|why|whether|wonder|wondering|curious)\b/
const OTHERS = /\b(?:he|she|they|him|his|her|hers|their|them|someone|somebody|everyone|people)\b/
/** What makes even a plain request one to ask about: conditions, hearsay, jokes, second thoughts. */
const DOUBT =
  /\b(?:if|unless|would (?!like|you please)|whether|suppose|imagine|hypothetical\w*|theor\w+|how|why|when|what|he|she|him|his|her|neighbou?r\w*|friend\w*|sa(?:y|ys|id|ying)|told|tells|wrote|asked|heard|read|reads|already|jok\w+|kidding|haha\w*|lol|jk|as though|oh|yeah|sure|wow|great|lovely|brilliant|nice|nope|naw|nah|wait|hold on|never ?mind|forget|scratch|ignore|keep|instead|second thoughts?|mistaken|rather|maybe|perhaps|possibly|guess|exchange\w*|replace\w*|swap|repair|voucher|finally|at last|hooray|thank(?:s| you) for|test\w*|example|like|while you|as if)\b|["“”«»]|[😀-😏😛-😝🙃🙄🤔🤣🤪]/u
const WISHED = /(?:would|'d) (?:really )?like\b/g
const HEDGE =
  /\?|n't\b|\b(?:not|never|none|no(?!\.?\s*\d)|if|maybe|perhaps|possibly|guess|think|already|wait|keep|forget|stop|cancel|jok\w+|kidding)\b/i
/** "Don't", "no thanks", "I didn't mean it": a no that isn't about the article. */
const NO =
  /^(?:please )?(?:do n't|do not|never|no|not)\b|\b(?:n't|not|never)$|\b(?:n't|not|never) (?:really )?(?:want|wish|need|mean|think|ask|asking|serious)/

/**
 * Reads how clearly money is asked for. A request is a clause that is nothing but one, by its first words and with
 * nothing but things after them. It is clear when all that is said about money is a request and nothing takes it
 * back: whoever is asked once too often loses a second, whoever isn't asked loses trust.
 *
 * @param sentences Their words, where an order's number stands as "my order"
 */
export function readWish(sentences: readonly (readonly Word[])[]): Wish {
  const clauses = sentences.flatMap(readClauses)
  const about = clauses.filter(({ text, asks }) => asks || TOPIC.test(text))
  const all = sentences
    .flat()
    .map(({ text }) => text)
    .join(' ')
    .replace(WISHED, 'want')
  if (about.some(({ asks }) => asks)) {
    const firm = about.every(({ asks }) => asks)
    return firm && !DOUBT.test(all) && !clauses.some(({ text }) => NO.test(text))
      ? 'clear'
      : 'unclear'
  }
  return about.some(({ text, asked }) => asked || OTHERS.test(text)) ? 'none' : 'unclear'
}

/** Whether an answer takes back what it says, or leaves it open. */
export function isDoubtful(answer: string): boolean {
  return HEDGE.test(answer)
}

/** The clauses of a message that are requests for money, as they are written. */
export function requests(sentences: readonly (readonly Word[])[]): readonly string[] {
  return sentences.flatMap(readClauses).flatMap(({ text, asks }) => (asks ? [text] : []))
}

interface Clause {
  readonly text: string
  readonly asks: boolean
  /** It is a question. */
  readonly asked: boolean
}

function readClauses(words: readonly Word[]): readonly Clause[] {
  const parts: Word[][] = [[]]
  for (const word of words) {
    if (/^(?:[^\p{L}\p{N}']+|and|but|so|because)$/u.test(word.text)) parts.push([])
    else parts.at(-1)!.push(word)
  }
  const question = words.some(({ text }) => text.includes('?'))
  const opened = ASKING.test(words.map(({ text }) => text).join(' '))
  return parts
    .filter((part) => part.length > 0)
    .map((part) => {
      const text = part.map((word) => word.text).join(' ')
      const shape = part.map(shapeOf).join(' ')
      const asks = POLITE.test(shape) || (!question && REQUEST.test(shape))
      return { text, asks, asked: !asks && (opened || ASKING.test(text)) }
    })
}

const KEPT =
  /^(?:refund|reimbursement|money|cash|back|order|card|account|bank|full|complete|immediate|please|pls|plz|thanks|asap|today|right|cancel|stop|void|call|return|transfer|reimburse|hi|hello|hey|my|i|it|need|want|request|demand)$/

/** A thing or a quality is as good as any other. */
function shapeOf({ text, tag }: Word): string {
  return /^(?:NOUN|PROPN|ADJ)$/.test(tag) && !KEPT.test(text) ? 'N' : text
}
