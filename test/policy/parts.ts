// Calls as policies see them, with whatever is said to have been used, and books of what was logged and reported.
import type { LLMInvocation, Logger, NodeInvocation, Prices, ToolInvocation } from 'heddle'
import { INSIDE } from '../../src/hook/mark.ts'
import type { Host, InputInside, Tally } from '../../src/tool/inside.ts'

/** What was logged: level, message, data. */
export type Line = readonly [level: string, message: string, data: object | undefined]

export interface Stage {
  readonly tool: ToolInvocation
  readonly llm: LLMInvocation
  readonly node: NodeInvocation
  readonly inside: InputInside
  readonly lines: Line[]
  readonly reports: unknown[]
}

interface Setting {
  readonly run?: Partial<Tally>
  readonly thread?: Partial<Tally>
  readonly prices?: Prices
  readonly args?: unknown
}

/** A moment of an app at which a tool, a model or a node is about to be called. */
export function stage({ run, thread, prices, args = { to: 'ann' } }: Setting = {}): Stage {
  const lines: Line[] = []
  const reports: unknown[] = []
  const nothing = { toolCalls: 0, modelCalls: 0, ms: 0 }
  const write =
    (level: string) =>
    (message: string, data?: object): void =>
      void lines.push([level, message, data])
  const logger: Logger = { debug: write('debug'), warn: write('warn'), error: write('error') }
  const inside: InputInside = {
    host: { logger, hooks: [], ...(prices && { prices }) } as unknown as Host,
    used: { run: { ...nothing, ...run }, thread: { ...nothing, ...run, ...thread } },
    report: (event) => void reports.push(event),
    instead: undefined,
  }
  const ctx = { [INSIDE]: inside, signal: new AbortController().signal } as never
  const call = { id: 'call_1', tool: 'send', args, raw: JSON.stringify(args) }
  const spec = { name: 'send' } as never
  return {
    tool: { spec, call, ctx },
    llm: { request: { messages: [] }, provider: 'p', model: 'm', ctx },
    node: { flow: 'f', node: 'n', state: {}, ctx },
    inside,
    lines,
    reports,
  }
}
