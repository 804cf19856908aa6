import type { Leading, Shared } from '../cache/shared.ts'
import { decode, encode, type Cell } from '../durable/codec.ts'
import { ToolUsageError } from '../errors.ts'
import { bounded, type Hooking } from '../hook/bounded.ts'
import { runAfter, runBeforeOrUndo, runOnError, stops } from '../hook/dispatch.ts'
import type { Hook, ToolInvocation } from '../hook/hook.ts'
import { isPolicyOutcome } from '../hook/outcome.ts'
import { watch, type Bounds, type Watch } from '../lib/within.ts'
import { withContext } from '../scope/current.ts'
import { approve } from './approve.ts'
import { cellOf, copied, fitted, frozenCall, notJson } from './args.ts'
import { attempts } from './attempts.ts'
import { cachedOr } from './cached.ts'
import { INSIDE } from '../hook/mark.ts'
import type { InnerContext } from './inside.ts'
import { denial } from './outcome.ts'
import type { Ending, Tool, ToolCall } from './tool.ts'

type Success = Ending & { readonly status: 'success' }

/** A call on its way. */
export interface Going extends Leading {
  readonly inv: ToolInvocation
  /** As they came; nothing if they were no JSON. */
  readonly args: Cell | undefined
  readonly ctx: InnerContext
  readonly watch: Watch
  /** What hooks, schemas and the body are bounded by, each by itself. */
  readonly bounds: Bounds
  /** It counts: what is thrown from here on is a failure of the tool. */
  begun: boolean
}

/**
 * Runs one call, inside a thread or on its own: hooks, arguments, approval, cache, body, hooks. Never rejects, whatever
 * fails; never settles once the call waits for a person or a clock, unless it is aborted.
 *
 * @param spec The tool; absent if there is none of that name
 * @param known The names there are, for the message
 */
export async function perform(
  spec: Tool | undefined,
  call: ToolCall,
  ctx: InnerContext,
  known: Iterable<string> = [],
): Promise<Ending> {
  try {
    if (!spec) throw noSuchTool(call.tool, known)
    const { [INSIDE]: inside, signal } = ctx
    signal.throwIfAborted()
    const pieces = watch()
    const args = cellOf(call, spec.name)
    const go: Going = {
      inv: Object.freeze({ spec, call: frozenCall(call, args), ctx }),
      args,
      ctx,
      watch: pieces,
      bounds: { signal, clock: inside.host.clock, ms: spec.settings.timeout },
      begun: false,
    }
    inside.onPause(() => {
      pieces.pause()
      go.flight?.end()
    })
    try {
      return await through(go)
    } finally {
      go.flight?.end()
    }
  } catch (error) {
    return { status: 'error', error }
  }
}

/** What is thrown here goes past all hooks that are told of errors. */
async function through(go: Going): Promise<Ending> {
  const { inv, ctx } = go
  const inside = ctx[INSIDE]
  const hooking: Hooking = {
    ...go,
    methods: ['beforeTool', 'afterTool', 'onToolError'],
    whose: `tool "${inv.spec.name}"`,
    copied: (value) => copied(value, `${inv.spec.name}()`),
  }
  const hooks = inside.host.hooks.map((hook, at) => bounded(hook, at, hooking))
  const outward = hooks.toReversed()
  if (inside.ran) return after(go, outward, inside.ran.value)
  let made: Shared
  try {
    const verdict = await runBeforeOrUndo(hooks, ['beforeTool', 'onToolError'], inv)
    if (verdict)
      return denial(verdict.shortCircuit) ?? (await after(go, outward, verdict.shortCircuit))
  } catch (error) {
    return denial(error) ?? { status: 'error', error }
  }
  try {
    made = await result(go, await admitted(go))
  } catch (error) {
    if (!go.begun && denial(error)) return denial(error) as Ending
    if (isPolicyOutcome(error) || stops(inv, error)) throw error
    inside.phase = 'error'
    const verdict = await runOnError(outward, 'onToolError', inv, error)
    if (!verdict) throw error
    return denial(verdict.shortCircuit) ?? { status: 'success', value: verdict.shortCircuit }
  }
  const { cell, cached } = made
  await go.watch.wait(() => inside.keep(decode(cell)), { ...go.bounds, ms: undefined })
  await go.save?.()
  go.flight?.end()
  const ending = await after(go, outward, decode(cell))
  return cached ? { ...ending, cached } : ending
}

/** Hands a value through the hooks after it. */
async function after(
  { inv, ctx }: Going,
  outward: readonly Hook[],
  value: unknown,
): Promise<Success> {
  ctx[INSIDE].phase = 'after'
  const watching = outward.filter(({ afterTool }) => afterTool)
  if (watching.length === 0) return { status: 'success', value }
  const other = await runAfter(watching, 'afterTool', inv, value)
  return { status: 'success', value: copied(other, `${inv.spec.name}()`) }
}

/** The arguments that go in: validated, and approved of. */
async function admitted(go: Going): Promise<unknown> {
  const { inv, ctx } = go
  const { approve: rule } = inv.spec.settings
  const args = await accepted(go)
  // What was decided of this very call holds, whatever is asked for by now.
  if (!rule && !ctx[INSIDE].asked) return args
  const when = (): boolean | Promise<boolean> =>
    typeof rule === 'function' ? rule(args, ctx) : rule === true
  const what = `The approval of tool "${inv.spec.name}"`
  const bounds = { ...go.bounds, what }
  await go.watch.wait(() => approve(inv, { by: 'tool', when, last: true }), bounds)
  return ctx[INSIDE].instead ? accepted(go) : args
}

/** What goes in: the arguments, or what a policy or a person put instead. */
function given({ inv, args, ctx }: Going): unknown {
  const { instead } = ctx[INSIDE]
  const cell = instead ? cellOf({ args: instead.value }, inv.spec.name) : args
  if (cell === undefined) throw notJson(inv.call)
  return decode(cell)
}

/** What the tool's schema makes of it. */
function accepted(go: Going): Promise<unknown> {
  const { name, input } = go.inv.spec
  const what = `The input schema of tool "${name}"`
  return go.watch.wait(() => fitted(input, given(go), name, 'arguments'), { ...go.bounds, what })
}

/** What comes of the body, or is known already. */
function result(go: Going, args: unknown): Promise<Shared> {
  const { inv, ctx } = go
  const { name, output, settings } = inv.spec
  go.begun = true
  ctx[INSIDE].phase = 'body'
  ctx[INSIDE].begin()
  const body = async (own: InnerContext, attempt: number): Promise<Cell> => {
    // An attempt before may have changed what it was given.
    const input = attempt === 1 ? args : await accepted(go)
    const value = await withContext(own, async () => inv.spec.run(input, own))
    const fit = output ? await fitted(output, value, name, 'result') : value
    return encode(fit, undefined, `${name}()`)
  }
  return cachedOr(
    go,
    () => given(go),
    () => attempts(body, `Tool "${name}"`, ctx, settings, go.watch),
  )
}

function noSuchTool(tool: string, known: Iterable<string>): ToolUsageError {
  const names = [...known].map((name) => `"${name}"`)
  const there = names.length > 0 ? `there are ${names.join(', ')}` : 'there are none'
  return new ToolUsageError(`Cannot call tool "${tool}": there is no such tool; ${there}`, { tool })
}
