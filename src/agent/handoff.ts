import { field } from '../schema.ts'
import { tool, type CallResult, type Tool } from '../tool/tool.ts'

/** The tools by which an agent hands over, by their names. */
export type Handoffs = ReadonlyMap<string, { readonly to: string; readonly how: Tool }>

/** Makes a tool for each agent that may be handed over to. */
export function handoffsOf(handoffs: { readonly [name: string]: string } = {}): Handoffs {
  return new Map(
    Object.entries(handoffs).map(([to, when]) => {
      const name = `transfer_to_${to}`
      const how = tool({
        name,
        description: `Hands the conversation over to "${to}". When: ${when}`,
        input: field<unknown>({}),
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        run: () => `"${to}" goes on from here`,
      })
      return [name, { to, how }]
    }),
  )
}

/**
 * Whom the results of a turn hand over to: the first that went through. Any other is told that it came too late.
 *
 * @returns The results as the model is to read them
 */
export function handOver(
  handoffs: Handoffs,
  results: readonly CallResult[],
): { readonly to: string | undefined; readonly results: readonly CallResult[] } {
  let to: string | undefined
  const told = results.map((result): CallResult => {
    const handoff = handoffs.get(result.tool)
    if (!handoff || result.status !== 'success') return result
    if (to !== undefined) return tooLate(result, to)
    to = handoff.to
    return result
  })
  return { to, results: told }
}

const tooLate = (result: CallResult, to: string): CallResult => ({
  id: result.id,
  tool: result.tool,
  status: 'error',
  error: new Error(`"${to}" has been handed over to already`),
})
