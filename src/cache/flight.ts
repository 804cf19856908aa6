import type { Cell } from '../durable/codec.ts'
import { readable } from '../scope/scope.ts'

/** Work under way by key: each settles with what came of it, or with nothing if those who wait have to do it themselves. */
export type Flights = Map<string, Promise<unknown>>

/** Tells the request of who leads: on Workers one that has ended comes back to nobody, so that nobody waits for another's. */
const requests: WeakMap<Promise<unknown>, AbortSignal> = /* @__PURE__ */ new WeakMap()

/** What is under way for a key, where it can be waited for. */
function underWay(flights: Flights, key: string): Promise<unknown> | undefined {
  const flight = flights.get(key)
  const request = flight && requests.get(flight)
  return request && readable(request) ? flight : undefined
}

/** What somebody does for all who want the same. */
export interface Lead {
  /** Tells those who wait what came of it; each makes a copy of their own of the cell. */
  land(cell: Cell): void
  /** Leaves: nobody waits for it any more, and those who do, while nothing has landed, do it themselves. Safe to repeat. */
  end(): void
}

/** Makes the caller the one whose work others wait for; nothing if somebody is already. It has to `end` however it ends: on a pause as well. */
export function lead(flights: Flights, key: string): Lead | undefined {
  if (underWay(flights, key)) return undefined
  let tell: (landed?: { readonly cell: Cell }) => void = () => {}
  const flight = new Promise<unknown>((resolve) => (tell = resolve))
  flights.set(key, flight)
  requests.set(flight, new AbortController().signal)
  return {
    land: (cell) => tell({ cell }),
    end() {
      tell()
      if (flights.get(key) === flight) flights.delete(key)
    },
  }
}

/**
 * Waits for who does the same work, once: what came of it, or nothing if nobody does or they gave up.
 *
 * @param signal Ends the wait alone, by rejecting with its reason
 */
export async function follow(
  flights: Flights,
  key: string,
  signal?: AbortSignal,
): Promise<{ readonly cell: Cell } | undefined> {
  const flight = underWay(flights, key)
  if (!flight || !signal) return flight as never
  signal.throwIfAborted()
  let stop = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    return (await Promise.race([flight, stopped])) as never
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
