import { decode, type Cell } from '../durable/codec.ts'
import type { Emitted } from '../hook/hook.ts'
import { isControlFlow } from '../hook/outcome.ts'
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
    this.told ??= this.#tell()
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
      for (const hook of this.#app.listeners) {
        if (this.#over) return
        try {
          await hook.onEvent?.({ ...about, ns: [...about.ns], event: decode(event) })
        } catch (error) {
          this.#failed(hook.name, error)
        }
      }
    }
    this.#waiting = []
    this.told = undefined
  }

  /** By its type only: its message may hold secrets. */
  #failed(name: string | undefined, error: unknown): void {
    if (isControlFlow(error)) return
    const type = error instanceof Error ? error.name : typeof error
    this.#app.logger.warn(`A hook failed: onEvent of hook "${name ?? ''}"`, { error: type })
  }
}
