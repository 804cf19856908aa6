import type { Leading } from '../cache/shared.ts'
import { decode, encode } from '../durable/codec.ts'
import { isHeddleError } from '../errors.ts'
import { bounded, type Hooking } from '../hook/bounded.ts'
import { runAfter, runBeforeOrUndo, runOnError, stops } from '../hook/dispatch.ts'
import type { LLMInvocation, ShortCircuit } from '../hook/hook.ts'
import { INSIDE } from '../hook/mark.ts'
import { errorType } from '../hook/name.ts'
import { isPolicyOutcome } from '../hook/outcome.ts'
import { watch, type Bounds, type Watch } from '../lib/within.ts'
import type { NewMessage } from './message.ts'
import { cachedOr } from './cached.ts'
import { hear, type Heard } from './collect.ts'
import type { RequestContext } from './inside.ts'
import type { ModelRequest, Reply } from './model.ts'
import { answerOf, type Answer } from './output.ts'
import { partOf, replyFrom, replyOf, usageOf } from './reply.ts'
import { requestFrom, type Asked } from './request.ts'

/** Gets what had come of a message when its stream broke off, or was stopped. */
export type OnPartial = (message: NewMessage & { readonly role: 'assistant' }) => void

type Part = ReturnType<typeof partOf>

/** A request on its way. */
export interface Going extends Leading {
  readonly asked: Asked
  readonly inv: LLMInvocation
  readonly ctx: RequestContext
  readonly watch: Watch
  readonly bounds: Bounds
  /** What is left of a message that broke off. */
  part: Part | undefined
  /** What is left if it is stopped once the model has said everything. */
  said: Part | undefined
  /** The ids of its calls. */
  readonly ids: Set<string>
}

/**
 * Makes one request, inside a thread or on its own: hooks, cache, model, hooks. Never settles once hooks wait for a person
 * or a clock, unless it is aborted.
 *
 * @throws ModelError if the model failed; errors of ours, of hooks and of `onEvent` as they are
 */
export async function perform(
  asked: Asked,
  request: ModelRequest,
  ctx: RequestContext,
  onPartial?: OnPartial,
): Promise<Answer> {
  const { [INSIDE]: inside, signal } = ctx
  const { provider, model } = asked.model
  signal.throwIfAborted()
  const going: Going = {
    asked,
    inv: Object.freeze({ request, provider, model, ctx }),
    ctx,
    watch: watch(),
    bounds: { signal, clock: inside.host.clock, ms: asked.timeout },
    part: undefined,
    said: undefined,
    ids: new Set(),
  }
  const leave = (): void => {
    const part = going.part ?? (signal.aborted ? going.said : undefined)
    going.part = going.said = undefined
    try {
      if (part) onPartial?.(part)
    } catch (error) {
      inside.host.logger.warn('Part of a message could not be kept', { error: errorType(error) })
    }
  }
  inside.onPause(() => {
    going.watch.pause()
    going.flight?.end()
    going.said = undefined
  })
  signal.addEventListener('abort', leave)
  try {
    const reply = await through(going, leave)
    const bounds = { ...going.bounds, what: `The output schema of model "${asked.name}"` }
    const answer = await going.watch.wait(() => answerOf(reply, asked.schema), bounds)
    if (!answer.issues) await going.save?.()
    return answer
  } catch (error) {
    leave()
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
    going.flight?.end()
  }
}

/** The reply, as hooks leave it. */
async function through(going: Going, leave: () => void): Promise<Reply<unknown>> {
  const { asked, inv, ctx, bounds } = going
  const inside = ctx[INSIDE]
  const about = { name: asked.name, id: inside.id, ids: going.ids, whose: 'a hook' }
  const whole = (value: unknown): Reply<unknown> => replyFrom(value, about)
  for (const { id } of inside.ran?.calls ?? []) going.ids.add(id)
  const hooking: Hooking = {
    ...going,
    methods: ['beforeLlm', 'afterLlm', 'onLlmError'],
    whose: `model "${asked.name}"`,
    copied: whole,
  }
  const hooks = inside.host.hooks.map((hook, at) => bounded(hook, at, hooking))
  const outward = hooks.toReversed()
  const after = async (reply: Reply<unknown>): Promise<Reply<unknown>> => {
    inside.phase = 'after'
    const watching = outward.filter(({ afterLlm }) => afterLlm)
    if (watching.length === 0) return reply
    const other = await runAfter<unknown>(watching, 'afterLlm', inv, reply)
    const made = whole(other)
    // What is left is what hooks made of it.
    if (going.said) going.said = partOf(made.message, asked.name, made.usage)
    return made
  }
  if (inside.ran) return after(inside.ran)
  const verdict = await runBeforeOrUndo(hooks, ['beforeLlm', 'onLlmError'], inv)
  if (verdict) return after(replyIn(verdict))
  let reply: Reply<unknown>
  try {
    reply = await sent(going, leave)
  } catch (error) {
    if (isPolicyOutcome(error) || stops(inv, error)) throw error
    inside.failed(error)
    inside.phase = 'error'
    const healed = await runOnError(outward, 'onLlmError', inv, error)
    if (!healed) throw error
    going.part = undefined
    return replyIn(healed)
  }
  await going.watch.wait(() => inside.keep(reply), { ...bounds, ms: undefined })
  return after(reply)
}

/** What a hook ended a request with: a denial is thrown. */
function replyIn({ shortCircuit }: ShortCircuit): Reply<unknown> {
  if (isHeddleError(shortCircuit)) throw shortCircuit
  return shortCircuit as Reply<unknown>
}

/** What the model answers, or is known already. */
async function sent(going: Going, leave: () => void): Promise<Reply<unknown>> {
  const { asked, inv, ctx } = going
  const { name, model, onEvent } = asked
  const inside = ctx[INSIDE]
  const { id, host, instead } = inside
  const request = instead
    ? requestFrom(name, Object(instead.value) as object, asked.stamp)
    : inv.request
  let heard: Heard = { text: '', reasoning: '', calls: [] }
  const spent = (left: 'part' | 'said'): void => {
    const usage = usageOf(heard.usage, name, host.prices)
    inside.spent(usage)
    if (heard.text || heard.reasoning) going[left] = partOf(heard, name, usage)
  }
  const said = (): void => spent('said')
  const lost = (): void => {
    spent('part')
    // Whoever stops a run records at once what there is.
    if (ctx.signal.aborted) leave()
  }
  const { cell, cached } = await cachedOr(going, request, async () => {
    await inside.begin(request)
    await hear(model, request, { ...going, call: id, heard, onEvent, said, lost })
    const { text, reasoning, finish } = heard
    return encode({ text, reasoning, finish })
  })
  if (cached) heard = { ...(decode(cell) as Heard), calls: [] }
  const usage = cached ? { requests: 0 } : usageOf(heard.usage, name, host.prices)
  const reply = replyOf(heard, { name, id, ids: going.ids, usage })
  if (reply.calls.length > 0 || ['length', 'filter'].includes(reply.finish)) delete going.save
  return cached ? { ...reply, cached } : reply
}
