import type { Presence, PresenceState } from '../src/index.ts'

/** Whose presence it is. */
export type PresenceOf = Parameters<Presence['set']>[1]

interface Told {
  readonly presence: PresenceState
  readonly of: PresenceOf
}

/**
 * Tells the other tabs of this origin what agents seem to be doing; they listen by `watchPresence`. Only changes are told:
 * a tab that is opened later hears the next one. Does nothing where there is no BroadcastChannel.
 *
 * @param name The channel's
 */
export function broadcastPresence(name = 'heddle'): Presence {
  const line = new Line(name)
  return {
    set(presence, { run, thread, agent }) {
      line.channel?.postMessage({ presence, of: { run, thread, agent } } satisfies Told)
    },
  }
}

/**
 * Hears what agents in other tabs of this origin seem to be doing: what `broadcastPresence` tells there. Hears nothing where
 * there is no BroadcastChannel, and nothing of what is said while the page is in the back/forward cache.
 *
 * @param name The channel's
 * @returns Stops it
 */
export function watchPresence(
  listen: (state: PresenceState, of: PresenceOf) => void,
  name = 'heddle',
): () => void {
  const line = new Line(name, ({ data }) => {
    const { presence, of } = Object(data) as Partial<Told>
    if (presence !== undefined && of !== undefined) listen(presence, of)
  })
  const open = (): void => void line.channel
  // A page that comes back from the cache goes on listening.
  page().addEventListener?.('pageshow', open)
  open()
  return () => {
    page().removeEventListener?.('pageshow', open)
    line.close()
  }
}

/** What is told that the page is left; outside of pages nothing is. */
const page = (): Partial<EventTarget> => globalThis

/** A channel that is open from its first use until the page is left: an open one keeps a page out of the back/forward cache. */
class Line {
  readonly #name: string
  readonly #listen: ((event: MessageEvent) => void) | undefined
  #channel: BroadcastChannel | undefined

  constructor(name: string, listen?: (event: MessageEvent) => void) {
    this.#name = name
    this.#listen = listen
  }

  get channel(): BroadcastChannel | undefined {
    if (this.#channel || typeof BroadcastChannel === 'undefined') return this.#channel
    this.#channel = new BroadcastChannel(this.#name)
    // In Node an open one would keep the process.
    ;(this.#channel as { unref?(): void }).unref?.()
    if (this.#listen) this.#channel.addEventListener('message', this.#listen)
    page().addEventListener?.('pagehide', this.close, { once: true })
    return this.#channel
  }

  readonly close = (): void => {
    page().removeEventListener?.('pagehide', this.close)
    this.#channel?.close()
    this.#channel = undefined
  }
}
