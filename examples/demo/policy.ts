import type { Case } from './case.ts'
import type { Entry, Order } from './orders.ts'

/**
 * What the rules of the shop say to an errand.
 *
 * @param found The order it is about
 * @param done What settled that order before, if anything did
 * @param limit Up to how many dollars go back without a person
 */
export function decide(
  { intent, wish, claimed }: Case,
  found: Order,
  done: Entry | undefined,
  limit: number,
): Pick<Case, 'outcome' | 'why' | 'doubt' | 'amount'> {
  const amount = found.total
  const refused = (why: string) => ({ outcome: 'refused', why, doubt: '', amount }) as const
  if (done)
    return refused(`${dollars(done.amount ?? 0)} for it went back already, receipt ${done.receipt}`)
  if (intent !== 'address' && wish === 'none')
    return { outcome: 'open', why: '', doubt: '', amount }
  if (intent !== 'refund' && found.state !== 'processing')
    return refused(`it is ${found.state} already`)
  if (intent === 'address') return { outcome: 'moving', why: '', doubt: '', amount }
  if (found.final !== undefined && intent === 'refund') return refused(found.final)
  const doubts = [
    amount > limit && `it is more than ${dollars(limit)}`,
    claimed !== undefined && claimed !== amount && `the customer speaks of ${dollars(claimed)}`,
    found.state === 'shipped' && 'it is still on its way',
  ]
  return {
    outcome: 'pay',
    why: `${dollars(amount)} should go back`,
    doubt: doubts.filter(Boolean).join(', and '),
    amount,
  }
}

/** The question for the order, with what is known already. */
export function askForOrder({ unknown, mentioned }: Case): string {
  if (unknown !== '') return `I can't find an order ${unknown}. What is its number?`
  if (mentioned.length < 2) return 'What is the number of the order?'
  return `You mention the orders ${mentioned.join(' and ')}. Which one is it about?`
}

/** The question whether money is wanted back. */
export function askForWish({ intent, order, amount }: Case): string {
  return intent === 'cancel'
    ? `Do you want order ${order} cancelled and your money (${dollars(amount)}) back?`
    : `Do you want your money back for order ${order} (${dollars(amount)})?`
}

/** What the customer is told in the end. */
export function answer(now: Case, found: Order | undefined): string {
  const { intent, wish, order, outcome, receipt, why } = now
  const asks = intent === 'refund' || intent === 'cancel'
  const amount = dollars(now.amount)
  if (intent === 'other')
    return "I'm not sure what you need, so I did nothing. I can send money back, cancel an order that has not left, change where it goes, or tell you where it is. Write it in your own words, in English, with the number of the order."
  if (!found && asks && wish === 'none' && !now.unknown)
    return `I did nothing. If you want ${intent === 'cancel' ? 'an order cancelled' : 'your money back'}, write "${intent} order" and its number.`
  if (!found)
    return `${now.unknown ? `I can't find an order ${now.unknown}` : "I don't know which order you mean"}, so I did nothing. Please write again when you have its number at hand.`
  if (outcome === 'paid')
    return `${intent === 'cancel' ? `Order ${order} is cancelled and ${amount} are` : `${amount} for order ${order} are`} on the way back to you. The receipt is ${receipt}.`
  if (outcome === 'moved')
    return `Order ${order} goes to the new address. The receipt is ${receipt}.`
  if (outcome === 'unwanted') return `Then I leave order ${order} as it is.`
  if (outcome === 'declined')
    return `I'm sorry: a colleague looked at order ${order} and does not send the money back. Please call us.`
  if (outcome === 'refused' && intent !== 'address' && wish === 'none')
    return `Nothing more comes for order ${order}: ${why}.`
  if (outcome === 'refused') return `I'm sorry, I can't do that for order ${order}: ${why}.`
  const where = found.state === 'processing' ? 'being packed' : found.state
  const parcel = found.tracking ? `; its parcel has the number ${found.tracking}` : ''
  const hint = asks
    ? ` No money has gone back for it. If you want that, write "${intent} order ${order}".`
    : ''
  return `Your order ${order} (${found.items.join(', ')}) of ${found.placed} is ${where}${parcel}.${hint}`
}

/** An order in one line. */
export function describe({ id, items, total, customer, state }: Order): string {
  return `order ${id} of ${customer}: ${items.join(', ')}, ${dollars(total)}, ${state}`
}

/** An amount as people read it. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`
}
