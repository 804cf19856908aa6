import * as z from 'zod'
import { graph, type Graph } from 'heddle'
import { confirmRefund, fields, newAddress, refundOk, whichOrder, type Case } from './case.ts'
import { readAnswer } from '../nlu/details.ts'
import type { Order, Shop } from './orders.ts'
import { answer, askForOrder, askForWish, decide, describe, dollars } from './policy.ts'
import type { Understand } from '../nlu/understand.ts'
import { isDoubtful } from '../nlu/wish.ts'

/** What the agent says while it works, and at last. */
export type SupportEvent =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'reply'; readonly text: string }

/** What the agent works with; it reaches the nodes by closure and is never stored. */
export interface SupportParts {
  readonly understand: Understand
  readonly shop: Shop
  /** Up to this many dollars go back without a person. @default 50 */
  readonly limit?: number
  /** How long the bank takes to answer, in milliseconds. @default 3_000 */
  readonly bankMs?: number
}

type NodeName =
  | 'understand'
  | 'ask'
  | 'lookup'
  | 'decide'
  | 'confirm'
  | 'approve'
  | 'bank'
  | 'pay'
  | 'move'
  | 'answer'

const MOST_QUESTIONS = 3

/**
 * The support desk of a small shop: it understands a message, looks the order up, asks where it must, waits for the
 * bank, and answers. What pauses comes first in its node, or in a node of its own: nothing is said or done twice.
 */
export function support({
  understand,
  shop,
  limit = 50,
  bankMs = 3_000,
}: SupportParts): Graph<typeof fields, NodeName, SupportEvent> {
  const orderOf = ({ order }: Case): Order => {
    const found = shop.find(order)
    if (!found) throw new Error(`Cannot go on with order "${order}": the shop has it no more`)
    return found
  }
  const afterQuestion = ({ asked }: Case): 'ask' | 'answer' =>
    asked < MOST_QUESTIONS ? 'ask' : 'answer'

  return graph({
    name: 'support',
    state: fields,
    events: z.custom<SupportEvent>(),
    questions: [confirmRefund, refundOk, whichOrder, newAddress],
    nodes: {
      understand: async ({ message, order }, ctx) => {
        const { intent, wish, confidence, amount, ...said } = await understand(message)
        const orders = said.orders.length > 0 ? said.orders : said.numbers.filter(shop.find)
        const [first = order, ...more] = orders
        const named = orders.map((id) => `, order ${id}`).join('')
        const sure = intent === 'other' ? 'not sure' : `${Math.round(confidence * 100)} % sure`
        await ctx.emit({ kind: 'note', text: `understood: ${intent} (${sure})${named}` })
        return {
          intent,
          // An order that is only remembered is a guess.
          wish: wish === 'clear' && orders.length === 0 && order !== '' ? 'unclear' : wish,
          mentioned: [...orders],
          order: more.length === 0 ? first : '',
          unknown: '',
          asked: 0,
          claimed: amount,
          outcome: 'open',
          receipt: '',
          reply: '',
        }
      },

      ask: async (now, ctx) => {
        const { text } = await ctx.interrupt({ text: askForOrder(now) }, whichOrder)
        const [first = '', ...more] = readAnswer(text)
        return {
          mentioned: [first, ...more],
          order: more.length === 0 ? first : '',
          unknown: '',
          wish: now.wish === 'clear' && isDoubtful(text) ? 'unclear' : now.wish,
          asked: now.asked + 1,
        }
      },

      lookup: async ({ order }, ctx) => {
        const found = shop.find(order)
        const text = found ? `found: ${describe(found)}` : `there is no order ${order}`
        await ctx.emit({ kind: 'note', text })
        return found ? {} : { order: '', unknown: order, mentioned: [] }
      },

      decide: async (now, ctx) => {
        const decision = decide(now, orderOf(now), shop.settled(now.order), limit)
        if (decision.why) await ctx.emit({ kind: 'note', text: `decided: ${decision.why}` })
        return decision
      },

      confirm: async (now, ctx) => {
        const { ok } = await ctx.interrupt({ text: askForWish(now) }, confirmRefund)
        return ok ? {} : { outcome: 'unwanted' }
      },

      approve: async (now, ctx) => {
        const { id: order, customer, items } = orderOf(now)
        const request = { order, customer, items: [...items], amount: now.amount, why: now.doubt }
        const { ok } = await ctx.interrupt(request, refundOk)
        return ok ? {} : { outcome: 'declined' }
      },

      bank: async ({ amount }, ctx) => {
        const instant = new Date(ctx.now() + bankMs)
        await ctx.wait(instant, { text: `the bank checks ${dollars(amount)}` })
      },

      pay: async ({ order, amount, intent }, ctx) => {
        const kind = intent === 'cancel' ? 'cancel' : 'refund'
        const { receipt } = await ctx.once('pay', () =>
          shop.record({ key: ctx.task, kind, order, amount }),
        )
        const text = `paid: ${dollars(amount)} for order ${order}, receipt ${receipt}`
        await ctx.emit({ kind: 'note', text })
        return { receipt, outcome: 'paid' }
      },

      move: async ({ order }, ctx) => {
        const payload = { text: `Where should order ${order} go?` }
        const { text: address } = await ctx.interrupt(payload, newAddress)
        const { receipt } = await ctx.once('move', () =>
          shop.record({ key: ctx.task, kind: 'address', order, address }),
        )
        return { receipt, outcome: 'moved' }
      },

      answer: async (now, ctx) => {
        const reply = answer(now, shop.find(now.order))
        await ctx.emit({ kind: 'reply', text: reply })
        return { reply }
      },
    },
    edges: {
      start: 'understand',
      understand: {
        to: ['answer', 'lookup', 'ask'],
        pick: ({ intent, wish, order }) => {
          if (intent === 'other') return 'answer'
          if (order !== '') return 'lookup'
          const general = (intent === 'refund' || intent === 'cancel') && wish === 'none'
          return general ? 'answer' : 'ask'
        },
      },
      ask: {
        to: ['lookup', 'ask', 'answer'],
        pick: (now) => (now.order !== '' ? 'lookup' : afterQuestion(now)),
      },
      lookup: {
        to: ['decide', 'ask', 'answer'],
        pick: (now) => (now.order !== '' ? 'decide' : afterQuestion(now)),
      },
      decide: {
        to: ['confirm', 'approve', 'bank', 'move', 'answer'],
        pick: ({ outcome, wish, doubt }) => {
          if (outcome === 'moving') return 'move'
          if (outcome !== 'pay') return 'answer'
          if (wish !== 'clear') return 'confirm'
          return doubt === '' ? 'bank' : 'approve'
        },
      },
      confirm: {
        to: ['approve', 'bank', 'answer'],
        pick: ({ outcome, doubt }) => {
          if (outcome === 'unwanted') return 'answer'
          return doubt === '' ? 'bank' : 'approve'
        },
      },
      approve: {
        to: ['bank', 'answer'],
        pick: ({ outcome }) => (outcome === 'declined' ? 'answer' : 'bank'),
      },
      bank: 'pay',
      pay: 'answer',
      move: 'answer',
      answer: 'end',
    },
  })
}
