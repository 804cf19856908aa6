import type { ModelEvent } from '../../src/index.ts'

/** How far the browser is with the download of its model. */
export class Progress {
  readonly #told: ModelEvent[] = []
  readonly #listen: ((loaded: number) => void) | undefined
  #wake: (() => void) | undefined

  constructor(listen: ((loaded: number) => void) | undefined) {
    this.#listen = listen
  }

  /** Listens to the monitor that `create` gives. */
  watch(monitor: EventTarget): void {
    monitor.addEventListener('downloadprogress', (event) => {
      const { loaded, total } = event as Event & { readonly loaded: number; readonly total: number }
      this.#told.push({ kind: 'download', loaded, total })
      this.#wake?.()
      this.#listen?.(loaded)
    })
  }

  /** Tells of it until the session is there, or has failed. */
  async *until(creating: Promise<unknown>): AsyncGenerator<ModelEvent> {
    const over = creating.then(
      () => true,
      () => true,
    )
    for (let isOver = false; !isOver;) {
      const more = new Promise<boolean>((resolve) => (this.#wake = () => resolve(false)))
      isOver = this.#told.length === 0 && (await Promise.race([over, more]))
      yield* this.#told.splice(0)
    }
  }
}
