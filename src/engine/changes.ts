import { headKey } from '../durable/keys.ts'
import { later } from '../lib/clock.ts'
import type { App } from './run.ts'

/** How long until a thread is looked at again that nothing was heard of: longer each time, and at most. */
const SOON_MS = 250
const LATEST_MS = 2000

/** Waits for something to happen to a thread: told by this process or by the store, or found by looking again. */
export class Changes {
  readonly #app: App
  readonly #stop: () => void
  #heard = false
  #over = false
  #wake: (() => void) | undefined
  #patience = SOON_MS

  constructor(app: App, place: string) {
    this.#app = app
    const { listeners, store } = app.owner
    const hear = (): void => {
      this.#heard = true
      this.#wake?.()
    }
    const unwatch = store.watch?.(headKey(place), hear)
    const here = listeners.get(place) ?? new Set()
    listeners.set(place, here.add(hear))
    this.#stop = () => {
      unwatch?.()
      here.delete(hear)
      if (here.size === 0) listeners.delete(place)
    }
  }

  /** Settles when something may have changed since the last call, and at once when nobody listens any more. */
  async next(): Promise<void> {
    if (!this.#heard && !this.#over) {
      await new Promise<void>((resolve) => {
        const cancel = later(this.#app.owner.clock, this.#patience, resolve)
        this.#wake = () => {
          cancel()
          resolve()
        }
      })
      this.#wake = undefined
    }
    this.#patience = this.#heard ? SOON_MS : Math.min(2 * this.#patience, LATEST_MS)
    this.#heard = false
  }

  close(): void {
    this.#over = true
    this.#stop()
    this.#wake?.()
  }
}
