import type { AgentMark } from '../graph/agent-mark.ts'
import type { RunContext } from '../graph/context.ts'
import type { Retry } from '../graph/graph.ts'
import { anything, call, check, wholeFrom, type Rule } from '../lib/check.ts'
import type { Message } from '../model/message.ts'
import type { Schema } from '../schema.ts'
import { checkRetry, name, record, schema } from '../tool/rules.ts'
import type { Tool } from '../tool/tool.ts'
import { toolsByName } from '../engine/tools.ts'
import { ToolUsageError } from '../errors.ts'
import { deepTools } from './deep.ts'
import { handoffsOf, type Handoffs } from './handoff.ts'

/** Settings that every request of an agent has. */
export interface AgentSettings {
  readonly temperature?: number
  readonly maxTokens?: number
  /** Passed to the provider as it is. */
  readonly extra?: { readonly [key: string]: unknown }
}

/** What `agent` takes, whatever its state is. */
export interface AnySpec {
  readonly name: string
  readonly model: AgentMark['model']
  readonly instructions?: string | ((state: never, ctx: RunContext) => string | Promise<string>)
  readonly tools?: readonly Tool[]
  readonly handoffs?: { readonly [name: string]: string }
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever it takes
  readonly output?: Schema<any>
  readonly maxTurns?: number
  readonly concurrency?: number
  readonly stopWhen?: (state: never) => boolean
  readonly deep?: boolean
  readonly retry?: Retry
  readonly compact?: (
    messages: readonly Message[],
    ctx: RunContext,
  ) => readonly Message[] | Promise<readonly Message[]>
  readonly settings?: AgentSettings
}

/** An agent that has been checked, with its defaults. */
export interface Agent extends AnySpec {
  readonly maxTurns: number
  readonly concurrency: number
  readonly own: ReadonlyMap<string, Tool>
  readonly handed: Handoffs
  /** It does tasks of the agent that it was made from: it hands none on, and the model of the run is for it as well. */
  readonly works?: true
}

/** The agent that does tasks of another: it has its model, tools, files and limits, and answers in text. */
export function workerOf(agent: Agent): Agent {
  const { handoffs: _, output: __, stopWhen: ___, ...rest } = agent
  return { ...rest, name: `${agent.name}.task`, handed: new Map(), deep: true, works: true }
}

const boolean: Rule = [(value) => typeof value === 'boolean', 'true or false']
const text: Rule = [
  (value) => typeof value === 'string' || typeof value === 'function',
  'a text or a function',
]
const model: Rule = [
  (value) => typeof value === 'function' || typeof Object(value).stream === 'function',
  'a model or a function that gives one',
]
const temperature: Rule = [(value) => Number.isFinite(value), 'a number']
const texts: Rule = [
  (value) => record[0](value) && Object.values(value).every((one) => typeof one === 'string'),
  'an object of texts: when to hand over, by agent',
]

const RULES: { readonly [member: string]: Rule } = {
  name,
  model,
  instructions: text,
  // Looked at below.
  tools: anything,
  handoffs: texts,
  output: schema,
  maxTurns: wholeFrom(1, Infinity),
  concurrency: wholeFrom(1, Infinity),
  stopWhen: call,
  deep: boolean,
  compact: call,
  settings: record,
  retry: record,
}

/**
 * Reads what an agent is made of.
 *
 * @throws TypeError for what is missing, misspelt or of another type, RangeError for a number out of range,
 * ToolUsageError for two tools of one name
 */
export function agentFrom(spec: AnySpec): Agent {
  const given = Object(spec) as Partial<AnySpec>
  const called = typeof given.name === 'string' ? ` "${given.name}"` : ' without a name'
  const cannot = `Cannot make agent${called}`
  check(cannot, RULES, { ...given, name: given.name ?? null })
  const settings = { temperature, maxTokens: wholeFrom(1), extra: record }
  check(`${cannot} with those settings`, settings, given.settings ?? {})
  if (given.retry) checkRetry(cannot, given.retry)
  if (given.handoffs && '' in given.handoffs)
    throw new TypeError(`${cannot}: handoffs has an agent without a name`)
  const handed = handoffsOf(given.handoffs)
  const own = toolsByName(cannot, given.tools)
  for (const tool of own.keys()) {
    const to = handed.get(tool)?.to
    if (to !== undefined)
      throw new ToolUsageError(
        `${cannot}: its tool "${tool}" is named as its hand-off to "${to}" is`,
        { tool },
      )
  }
  const deep = given.deep ? deepTools({}, { task: async () => ({ text: '' }) }) : []
  for (const { name: tool } of deep)
    if (own.has(tool))
      throw new ToolUsageError(`${cannot}: its tool "${tool}" is named as one of deep agents is`, {
        tool,
      })
  const { maxTurns = 20, concurrency = 4 } = given
  return { ...spec, maxTurns, concurrency, own, handed }
}
