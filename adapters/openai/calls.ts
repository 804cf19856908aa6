import type { ModelEvent } from '../../src/index.ts'
import { parsed } from './payloads.ts'

/** A piece of a call, as streams have it. */
export interface CallDelta {
  readonly index?: number | null
  readonly id?: string | number | null
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null
}

interface Building {
  readonly id: string
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
    add({ index, id: given, function: part }, place) {
      const id = String(given ?? '')
      const name = part?.name ?? ''
      const args = part?.arguments ?? ''
      const delta = typeof args === 'string' ? args : JSON.stringify(args)
      const slot = index ?? place
      const here = at.get(slot)
      let call = (here?.id !== id && calls.find((one) => one.id === id)) || here
      // Behind arguments that are whole others begin: an empty object before them only held their place.
      const again =
        /^\s*\{/.test(delta) && call?.raw.endsWith('}') && parsed(call.raw) !== undefined
      // Some servers give all calls one index, or none: a name with an id of its own, or behind whole arguments, is a new
      // call. Others say index, id and name in each piece.
      const isOther = id ? call?.id !== id || (again && slot !== index) : again
      if (!call || (name && (isOther || !here))) {
        call = { id: id || String(calls.length), tool: '', raw: '' }
        calls.push(call)
      } else if (again) call.raw = ''
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
