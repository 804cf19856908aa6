// What the compiler knows inside a node, and on the side that answers it.
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { question } from 'heddle'
import type { Context, Interruption, RunContext } from 'heddle'
import { same } from './same.ts'

interface Order {
  readonly id: string
  readonly total: number
  readonly note?: string
  readonly placed: Date
}
declare const order: Order

const refundOk = question({
  key: 'refund',
  payload: z.object({ amount: z.number() }),
  answer: z.object({ ok: z.boolean() }),
})

export async function asks(_: unknown, ctx: Context): Promise<void> {
  const plain = await ctx.interrupt({ q: 1 })
  same<typeof plain, unknown>(true)
  const typed = await ctx.interrupt({ q: 1 }, { schema: z.object({ approved: z.boolean() }) })
  same<typeof typed, { approved: boolean }>(true)
  const ark = await ctx.interrupt(null, { schema: type({ approved: 'boolean' }), key: 'ark' })
  same<typeof ark, { approved: boolean }>(true)
  const bot = await ctx.interrupt(null, { schema: v.object({ n: v.number() }), expires: 1000 })
  same<typeof bot, { n: number }>(true)
  const asked = await ctx.interrupt({ amount: 3 }, refundOk)
  same<typeof asked, { ok: boolean }>(true)
  await ctx.interrupt()
  // Interfaces, optional members and dates can be stored, so they can be asked about.
  await ctx.interrupt({ order })
  await ctx.interrupt(order, { key: 'order' })
  // @ts-expect-error a payload must be storable
  await ctx.interrupt(() => {})
  // @ts-expect-error all the way down
  await ctx.interrupt({ order, retry: () => {} })
  // @ts-expect-error a promise that nobody awaited
  await ctx.interrupt({ order: Promise.resolve(order) })
  // @ts-expect-error the wrong payload for a declared question
  await ctx.interrupt({ amount: '3' }, refundOk)
  // @ts-expect-error a misspelt option
  await ctx.interrupt(null, { schema: z.string(), expire: 1000 })
}

export async function waits(_: unknown, ctx: Context): Promise<void> {
  const back = await ctx.wait(new Date(), { order })
  same<typeof back, unknown>(true)
  await ctx.wait('2026-03-01T08:00:00Z')
  await ctx.sleep(1000, { key: 'pause' })
  // @ts-expect-error a number is no instant; `sleep` takes milliseconds
  await ctx.wait(1000)
  // @ts-expect-error a cursor must be storable
  await ctx.wait(new Date(), { next: () => {} })
}

export async function works(_: unknown, ctx: Context): Promise<void> {
  const total = await ctx.once('total', async () => order.total)
  same<typeof total, number>(true)
  // @ts-expect-error what is done once has a key
  await ctx.once(() => order.total)
  same<typeof ctx.thread, string>(true)
  same<typeof ctx.task, string>(true)
  same<typeof ctx.ns, readonly string[]>(true)
  same<typeof ctx.item, unknown>(true)
  // @ts-expect-error a context is read, not changed
  ctx.node = 'other'
  // A node's context is everything a function that it calls may need.
  helper(ctx)
}

export async function emits(_: unknown, ctx: Context<{ token: string }>): Promise<void> {
  await ctx.emit({ token: 'x' })
  // @ts-expect-error not an event of this graph
  await ctx.emit({ tok: 'x' })
}

export async function emitsNothing(_: unknown, ctx: Context): Promise<void> {
  // @ts-expect-error this graph emits nothing
  await ctx.emit('x')
}

function helper(ctx: RunContext): AbortSignal {
  // @ts-expect-error outside a thread there is none
  ctx.thread satisfies string
  return ctx.signal
}

// --- the other side
export function answers(open: Interruption): unknown {
  same<typeof open.payload, unknown>(true)
  if (!refundOk.is(open)) return undefined
  same<typeof open.payload, { amount: number }>(true)
  // @ts-expect-error the wrong answer
  refundOk.reply(open, { ok: 'yes' })
  return refundOk.reply(open, { ok: true })
}
// @ts-expect-error a question says what an answer looks like
question({ key: 'refund' })
