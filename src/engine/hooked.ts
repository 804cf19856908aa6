import type { Hook } from '../hook/hook.ts'
import type { Host } from '../tool/inside.ts'
import { nodeHooks, type NodeHooks } from './node-hooks.ts'

/** Hooks, by what they care for. */
export interface Hooked {
  /** What there is for all calls of tools, hooks included. */
  readonly host: Host
  readonly nodeHooks: NodeHooks | undefined
  /** Those that are told of events. */
  readonly listeners: readonly Hook[]
}

/** Sorts hooks out, once for an app, or for a run that has some of its own. */
export const hookedBy = (host: Omit<Host, 'hooks'>, hooks: readonly Hook[]): Hooked => ({
  host: { ...host, hooks },
  nodeHooks: nodeHooks(hooks),
  listeners: hooks.filter((hook) => hook.onEvent),
})
