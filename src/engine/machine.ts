import type { CallOptions } from '../graph/context.ts'
import type { Call, CallResult, Tool } from '../tool/tool.ts'
import type { Calls } from './calls.ts'

/** How a batch of tools is called. */
export interface MachineOptions {
  /** Calls at a time. @default 4 */
  readonly concurrency?: number | undefined
  readonly agent?: string | undefined
  /** Those that may be called by name. @default the app's */
  readonly tools?: ReadonlyMap<string, Tool> | undefined
  /** Gets what the tools emit. */
  readonly emit?: ((data: unknown, call: string) => void | Promise<void>) | undefined
  /** Told of each call that ends, as soon as it does: before a pause that others have come to is. */
  readonly ended?: ((result: CallResult) => void) | undefined
  /** The node does nothing more once it has their results: that of the last to end is stored with its own. @default false */
  readonly returns?: boolean | undefined
}

/** Runs the tools that a node or another tool calls. */
export interface Machine {
  call(calls: Calls, tool: Tool | string, args: unknown, options?: CallOptions): Promise<unknown>
  callAll(
    calls: Calls,
    wanted: readonly Call[],
    options?: MachineOptions,
  ): Promise<readonly CallResult[]>
}

/** Where a tool keeps what runs it. */
export const MACHINE: unique symbol = /* @__PURE__ */ Symbol.for('heddle.machine') as never

/** What runs a tool inside a thread, if `tool()` has made it. */
export const machineOf = (tool: Tool): Machine | undefined =>
  (tool as { readonly [MACHINE]?: Machine })[MACHINE]
