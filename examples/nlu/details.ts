/** What a text names, as a language model found it: `type` is `MONEY`, `DATE`, `EMAIL`, `CARDINAL`… */
export interface Entity {
  readonly type: string
  readonly value: string
}

/** Facts a customer gave. */
export interface Details {
  /** Order numbers, as the shop writes them, in the order of the text. */
  readonly orders: readonly string[]
  /** Where a number alone may be a house's: those that are an order's if the shop has one. */
  readonly numbers: readonly string[]
  readonly amount?: number
  /** As the customer put it: "3 May", "two weeks ago". */
  readonly date?: string
  readonly email?: string
}

const NUMBER = String.raw`\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?|\d+(?:[.,]\d{1,2})?`
const CURRENCY = String.raw`€|\$|£|\b(?:eur|usd|gbp|euros?|dollars?|pounds?|bucks)\b`
const MONEY = new RegExp(
  String.raw`(?:${CURRENCY})\s?(${NUMBER})(?!\d)|(?<![\w#-])(${NUMBER})\s?(?:${CURRENCY})`,
  'i',
)
const UNITS =
  'days?|weeks?|months?|years?|hours?|minutes?|times|items?|pieces?|st|nd|rd|th|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const ID = String.raw`(?:[A-Z]-?)?\d{1,9}\b(?!\s?(?:${UNITS})|[.,:/-]\d)`
/** `#1042`, `order 77`, `order no. 77`, `purchase number A-1042`, `orders 77 and 78`; and `A-1042`, which needs no word before it. */
const MARKED = [
  new RegExp(String.raw`#\s?(${ID})`, 'gi'),
  new RegExp(
    String.raw`\b(?:orders?|purchase|invoice|parcel|package)\b[\s:,-]*(?:(?:numbers?|nos?|nr|num|id|ids|is)\b[.:\s]*|№\s?)*(${ID}(?:(?:\s?,\s?|\s?&\s?|\s(?:and|or)\s)#?${ID})*)`,
    'gi',
  ),
  /\b([A-Z]-\d{2,6}|[A-Z]\d{3,6})\b/gi,
]
const STREETS = 'street|st|road|rd|avenue|ave|lane|drive|way|close|square'
/** A number that may be anything but a street's or a telephone's: "1044 to 12 Oak Street", "1044 12 Oak Street". */
const LOOSE = new RegExp(
  String.raw`(?<![\w.,:/#+-]|\d\s)\d{3,6}(?![\w/-]|[.,:]\d|\s\d+\b(?!\s[a-z])|(?:\s(?!to\b)[a-z]+){1,3}\s(?:${STREETS})\b)`,
  'gi',
)
const BARE =
  /(?<![\w.,:/#+-]|\d\s|\b(?:in|since|from|until|by|paid|costs?|spent|worth|charged)\s)\d{3,6}(?![\w/-]|[.,:]\d|\s\d)/gi

/**
 * Reads the facts off a text.
 *
 * @param text What the customer wrote
 * @param entities What a language model found in it
 * @param options.bare Also takes a number of three to six digits without any word for an order's
 */
export function readDetails(
  text: string,
  entities: readonly Entity[],
  { bare = false }: { readonly bare?: boolean } = {},
): Details {
  const find = (type: string): string | undefined =>
    entities.find((entity) => entity.type === type)?.value
  const amount = toAmount(MONEY.exec(text))
  const date = find('DATE')
  const email = find('EMAIL')
  const rest = without(text, entities, ['EMAIL', 'URL', 'MONEY']).replace(
    new RegExp(MONEY, 'gi'),
    ' ',
  )
  const orders = readOrders(rest)
  const loose =
    bare && orders.length === 0
      ? readBare(without(rest, entities, ['DATE', 'TIME', 'DURATION', 'PERCENT']))
      : []
  return {
    orders: [...orders, ...loose],
    numbers: bare ? [] : unique(rest.match(LOOSE) ?? []),
    ...(amount === undefined ? {} : { amount }),
    ...(date === undefined ? {} : { date }),
    ...(email === undefined ? {} : { email }),
  }
}

/** The order numbers in an answer to "which order?", where a number alone will do. */
export function readAnswer(text: string): readonly string[] {
  const orders = readOrders(text)
  return orders.length > 0
    ? orders
    : unique(text.match(/(?<![\w.,-])(?:[A-Z]-?)?\d{1,9}(?![\w-])/gi) ?? [])
}

/** A text with the facts taken out, so that only what is wanted is left to judge. */
export function withoutDetails(text: string, entities: readonly Entity[]): string {
  const rest = without(text, entities, ['EMAIL', 'URL', 'MONEY', 'DATE', 'TIME'])
  return withoutOrders(rest)
}

/** A text where an order's number stands as "my order". */
export function withoutOrders(text: string): string {
  const plain = [...MARKED, BARE].reduce((left, id) => left.replace(id, ' my order '), text)
  return plain.replace(/\b(?:(?:my|the|this)\s+)?(?:orders?\s+)?(?:my order\s*)+/gi, 'my order ')
}

function readOrders(text: string): readonly string[] {
  const found = MARKED.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({
      at: match.index,
      ids: match[1]!.match(new RegExp(ID, 'gi')) ?? [],
    })),
  )
  return unique(found.sort((a, b) => a.at - b.at).flatMap(({ ids }) => ids))
}

function readBare(text: string): readonly string[] {
  return unique(text.match(BARE) ?? [])
}

/** `a1042` and `A-1042` are one order. */
function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.toUpperCase().replace(/^([A-Z])-?(?=\d)/, '$1-')))]
}

function without(text: string, entities: readonly Entity[], types: readonly string[]): string {
  return entities
    .filter(({ type }) => types.includes(type))
    .reduce((rest, { value }) => rest.replace(value, () => ' '), text)
}

function toAmount(match: RegExpExecArray | null): number | undefined {
  const digits = match?.[1] ?? match?.[2]
  if (digits === undefined) return undefined
  return Number(digits.replace(/,(?=\d{3}(?!\d))/g, '').replace(',', '.'))
}
