import { decode, type Cell } from '../durable/codec.ts'
import type { Emitted } from '../hook/hook.ts'
import { errorType, hookName } from '../hook/name.ts'
import { isControlFlow } from '../hook/outcome.ts'
import { apart } from '../scope/frame.ts'
import type { App } from './run.ts'

/** What the hooks of an app are told of a run's events: in order, one at a time, and beside the run. */
export class Reports {
  readonly #app: Pick<App, 'listeners' | 'logger'>
  #waiting: (readonly [Omit<Emitted, 'event'>, Cell])[] = []
  #over = false
  /** Settles when all that has come by then is told. */
  told: Promise<void> | undefined

  constructor(app: Pick<App, 'listeners' | 'logger'>) {
    this.#app = app
  }

  add(about: Omit<Emitted, 'event'>, event: Cell): void {
    if (this.#over) return
    this.#waiting.push([about, event])
    // What it tells comes from many places: in the frame of none of them.
    this.told ??= apart(() => this.#tell())
  }

  /** Nothing more is told. */
  end(): void {
    this.#over = true
    if (this.told) this.#app.logger.warn('Hooks were given up that were still busy with events')
  }

  async #tell(): Promise<void> {
    // Not while the node emits.
    await Promise.resolve()
    // What comes meanwhile is told in the same loop.
    for (const [about, event] of this.#waiting) {
      for (const [at, hook] of this.#app.listeners.entries()) {
        if (this.#over) return
        try {
          await hook.onEvent?.({ ...about, ns: [...about.ns], event: decode(event) })
        } catch (error) {
          if (isControlFlow(error)) continue
          const what = `A hook failed: onEvent of ${hookName(hook, at)}`
          this.#app.logger.warn(what, { method: 'onEvent', error: errorType(error) })
        }
      }
    }
    this.#waiting = []
    this.told = undefined
  }
}
