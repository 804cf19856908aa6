import * as z from 'zod'
import { question } from 'heddle'

/** What the support desk remembers of a customer's case. */
export const fields = {
  message: z.string(),
  intent: z.enum(['refund', 'status', 'cancel', 'address', 'other']).default('other'),
  /** How clearly money was asked for: `none` where the message only speaks of it. */
  wish: z.enum(['clear', 'unclear', 'none']).default('none'),
  /** Orders that were mentioned, and the one it is about once that is clear. */
  mentioned: z.array(z.string()).default([]),
  order: z.string().default(''),
  /** A number that no order has. */
  unknown: z.string().default(''),
  /** How often the customer was asked for the order. */
  asked: z.number().default(0),
  /** What the customer says was paid. */
  claimed: z.number().optional(),
  amount: z.number().default(0),
  outcome: z
    .enum(['open', 'pay', 'refused', 'unwanted', 'declined', 'paid', 'moving', 'moved'])
    .default('open'),
  /** The reason for a decision, and what makes it one for a person. */
  why: z.string().default(''),
  doubt: z.string().default(''),
  receipt: z.string().default(''),
  reply: z.string().default(''),
}

/** A case as the nodes read it. */
export type Case = { readonly [K in keyof typeof fields]: z.output<(typeof fields)[K]> }

/** What somebody of the shop is asked before money goes back that the rules alone don't send. */
export const refundOk = question({
  key: 'approve-refund',
  payload: z.object({
    order: z.string(),
    customer: z.string(),
    items: z.array(z.string()),
    amount: z.number(),
    why: z.string(),
  }),
  answer: z.object({ ok: z.boolean() }),
})

/** What the customer is asked before money goes back that wasn't clearly asked for. */
export const confirmRefund = question({
  key: 'confirm-refund',
  payload: z.object({ text: z.string() }),
  answer: z.object({ ok: z.boolean() }),
})

/** What the customer is asked when the order isn't clear. */
export const whichOrder = question({
  key: 'which-order',
  payload: z.object({ text: z.string() }),
  answer: z.object({ text: z.string() }),
})

/** What the customer is asked when an order should go elsewhere. */
export const newAddress = question({
  key: 'new-address',
  payload: z.object({ text: z.string() }),
  answer: z.object({ text: z.string().trim().min(1) }),
})
