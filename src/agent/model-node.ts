import { ask } from '../engine/generate.ts'
import { leave } from '../engine/leave.ts'
import { isHeddleError, NoModel } from '../errors.ts'
import { tidy } from '../lib/tidy.ts'
import { errorInfo } from '../durable/run-record.ts'
import type { Message, NewMessage } from '../model/message.ts'
import type { Model, Reply } from '../model/model.ts'
import { cancelled, readable, unanswered, withoutCalls } from './history.ts'
import { insideOf, type AgentContext } from './inside.ts'
import type { Agent } from './spec.ts'
import { speak } from './speech.ts'
import type { AnyState } from './state.ts'
import type { Toolbox } from './toolbox.ts'
import { turnsOf } from './turns.ts'

/** What it changes. */
interface Update {
  readonly messages: readonly NewMessage[]
  readonly output?: unknown
  readonly handoff?: undefined
}

/** Makes the node that asks the model: one request, told of as its reply comes, which becomes one message. */
export function modelNode(
  agent: Agent,
  toolbox: Toolbox,
): (state: AnyState, ctx: AgentContext) => Promise<Update> {
  const { name, output, settings } = agent
  const begin = turnsOf(name, agent.maxTurns)
  return async (state, ctx) => {
    const { calls } = insideOf(ctx)
    const { execution } = calls
    begin(execution)
    const { messages } = state
    const model = await modelFor(agent, ctx)
    const speech = speak(ctx.emit, () => execution.step.level.run.app.newId('msg_'))
    const tools = [...toolbox.tools(ctx).values()]
    const request = {
      ...settings,
      ...tidy({
        instructions: await toolbox.instructions(state, ctx),
        tools: tools.length > 0 ? tools : undefined,
        output,
      }),
      messages: readable(await picked(agent, messages, ctx)),
      onEvent: speech.hear,
    }
    const reply: Reply<unknown> = await ask(calls, model, request, {
      agent: name,
      record: false,
      onPartial: (message) => leave(execution, { messages: [{ ...message, id: speech.id }] }),
      onRepair: speech.anew,
    })
    const { message } = reply
    // Until it is stored, all that was said is as good as broken off.
    const keep = (): void => {
      if (message.text || message.reasoning)
        leave(execution, { messages: [{ ...withoutCalls(message), id: speech.id, partial: true }] })
    }
    ctx.signal.addEventListener('abort', keep)
    if (ctx.signal.aborted) keep()
    await speech.end(reply)
    return {
      // Calls of an earlier turn that never got an answer have one from here on.
      messages: [
        ...unanswered(messages).map((call) => cancelled(call)),
        { ...message, id: speech.id },
      ],
      ...ofThisTurn(state, reply),
    }
  }
}

/** Which model is asked: at the top the one that the run brought along, else the agent's own. */
async function modelFor({ name, model, works }: Agent, ctx: AgentContext): Promise<Model> {
  const brought = works || ctx.ns.length === 0 ? insideOf(ctx).model : undefined
  const found = brought ?? (typeof model === 'function' ? await given(name, model, ctx) : model)
  if (typeof (found as Model | undefined)?.stream === 'function') return found as Model
  const why = model ? 'it gave none' : 'it has none'
  throw new NoModel(`Cannot ask the model of agent "${name}": ${why}, and the run has none`, {
    agent: name,
  })
}

/** What the agent's function gives. What stopped the run, and errors of ours, stay what they are. */
async function given(
  agent: string,
  model: Extract<Agent['model'], (...args: never) => unknown>,
  ctx: AgentContext,
): Promise<unknown> {
  try {
    return await model(ctx)
  } catch (cause) {
    if (isHeddleError(cause) || ctx.signal.aborted) throw cause
    const { name, message } = errorInfo(cause)
    const why = `its function failed: ${message || name}`
    throw new NoModel(`Cannot ask the model of agent "${agent}": ${why}`, { agent }, { cause })
  }
}

/** The messages that the model is to read. */
async function picked(
  { name, compact }: Agent,
  messages: readonly Message[],
  ctx: AgentContext,
): Promise<readonly Message[]> {
  if (!compact) return messages
  const some: unknown = await compact(messages, ctx)
  const fits = (one: unknown): boolean => typeof Object(one).role === 'string'
  if (Array.isArray(some) && some.every(fits)) return some
  throw new TypeError(
    `Cannot ask the model of agent "${name}": compact() gave back no list of messages`,
  )
}

/** An answer, and whom an agent handed over to, are those of the turn at hand. */
function ofThisTurn(state: AnyState, { calls, output }: Reply<unknown>): Partial<Update> {
  const answer = calls.length === 0 ? output : undefined
  return {
    ...((answer !== undefined || state.output !== undefined) && { output: answer }),
    ...(state.handoff !== undefined && { handoff: undefined }),
  }
}
