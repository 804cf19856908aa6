import type { ModelEvent } from '../../src/index.ts'
import { parsed } from './payloads.ts'

/** A piece of a call, as streams have it. */
export interface CallDelta {
  readonly index?: number | null
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null
}

interface Building {
  readonly id: string
  /** The endpoint's, if it gave one. */
  readonly wire: string | undefined
  tool: string
  raw: string
}

/** Puts calls together from their pieces, which may come in turns. */
export interface Assembly {
  /** Takes a piece, and gives what it adds to the arguments. `place` is its place in the list that it came in. */
  add(piece: CallDelta, place: number): ModelEvent | undefined
  /** The calls so far, in the order in which they began. */
  events(): readonly ModelEvent[]
}

/** Starts without calls. */
export function assembly(): Assembly {
  const calls: Building[] = []
  const at = new Map<number, Building>()
  return {
    add({ index, id, function: part }, place) {
      const name = part?.name ?? ''
      const args = part?.arguments ?? ''
      const delta = typeof args === 'string' ? args : JSON.stringify(args)
      const slot = index ?? place
      const here = at.get(slot)
      let call = id && here?.wire !== id ? (calls.find((one) => one.wire === id) ?? here) : here
      const isNew = name !== '' && typeof index === 'number' && !here
      const begins = !call || isNew || isAnother(call, { id, name, delta })
      if (!call || begins) {
        call = { id: id || String(calls.length), wire: id || undefined, tool: '', raw: '' }
        calls.push(call)
      }
      at.set(slot, call)
      // A name comes in pieces, or again and again as a whole.
      if (name !== call.tool) call.tool += name
      call.raw += delta
      if (delta === '') return undefined
      return { kind: 'args', id: call.id, ...(call.raw === delta && { tool: call.tool }), delta }
    },
    events: () =>
      calls.map(({ id, tool, raw }) => ({ kind: 'call', id, tool, raw: raw.trim() || '{}' })),
  }
}

/** Some servers give all calls one index, or none: a name with an id of its own, or behind whole arguments, is a new call. */
function isAnother(
  call: Building,
  { id, name, delta }: { id: string | null | undefined; name: string; delta: string },
): boolean {
  if (name === '') return false
  if (id && call.wire && id !== call.wire) return true
  return delta !== '' && parsed(call.raw) !== undefined
}
