import type { CallOptions } from '../graph/context.ts'
import type { Call, CallResult, Tool } from '../tool/tool.ts'
import type { Calls } from './calls.ts'

/** Runs the tools that a node or another tool calls. */
export interface Machine {
  call(calls: Calls, tool: Tool | string, args: unknown, options?: CallOptions): Promise<unknown>
  callAll(calls: Calls, wanted: readonly Call[]): Promise<readonly CallResult[]>
}

/** Where a tool keeps what runs it. */
export const MACHINE: unique symbol = /* @__PURE__ */ Symbol.for('heddle.machine') as never

/** What runs a tool inside a thread, if `tool()` has made it. */
export const machineOf = (tool: Tool): Machine | undefined =>
  (tool as { readonly [MACHINE]?: Machine })[MACHINE]
