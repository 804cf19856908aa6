import { toolsByName } from '../engine/tools.ts'
import type { Tool } from '../tool/tool.ts'
import type { AgentContext } from './inside.ts'
import type { Agent } from './spec.ts'
import type { AnyState } from './state.ts'

/** What an agent may call. */
export function toolsFor({ name, own, handed }: Agent): ReadonlyMap<string, Tool> {
  const all = [...own.values(), ...[...handed.values()].map(({ how }) => how)]
  return toolsByName(`Cannot run agent "${name}"`, all)
}

/** What an agent tells its model each time. */
export async function instructionsFor(
  { instructions }: Agent,
  state: AnyState,
  ctx: AgentContext,
): Promise<string | undefined> {
  return typeof instructions === 'function' ? instructions(state as never, ctx) : instructions
}
