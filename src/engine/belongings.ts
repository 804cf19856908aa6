import type { Cell } from '../durable/codec.ts'
import type { Emitted } from '../hook/hook.ts'
import { later } from '../lib/clock.ts'
import { openScope, type Room, type Scope } from '../scope/scope.ts'
import type { Hooked } from './hooked.ts'
import { Reports } from './reports.ts'
import type { App } from './run.ts'

/** What goes with a run: its scope, and what hooks are told of its events. Made when first used. */
export class Belongings {
  readonly #app: App
  readonly #listeners: Hooked['listeners']
  #reports: Reports | undefined
  #room: Room | undefined
  #controller: AbortController | undefined
  #stopped: { readonly reason: unknown } | undefined
  #over = false

  constructor(app: App, { listeners }: Hooked) {
    this.#app = app
    this.#listeners = listeners
  }

  /** Owns what must be closed with the run: the app's, or one of its own. */
  get scope(): Scope {
    const { scope, logger } = this.#app
    if (scope) return scope
    if (!this.#room) {
      this.#controller = new AbortController()
      if (this.#stopped) this.#controller.abort(this.#stopped.reason)
      this.#room = openScope(this.#controller.signal, logger)
      if (this.#over) void this.#room.close()
    }
    return this.#room.scope
  }

  /** The run stops. */
  stop(reason: unknown): void {
    this.#stopped = { reason }
    this.#controller?.abort(reason)
  }

  /** Tells the hooks of an event, beside the run. */
  report(about: Omit<Emitted, 'event'>, event: Cell): void {
    if (!this.#over)
      (this.#reports ??= new Reports({ logger: this.#app.logger, listeners: this.#listeners })).add(
        about,
        event,
      )
  }

  /** The run is over: waits at most the grace for what there is; nothing of it goes on afterwards. */
  leave(): Promise<void> | undefined {
    this.#over = true
    const reports = this.#reports
    const room = this.#room
    if (!reports?.told && !room) return undefined
    const { clock, graceMs } = this.#app.host
    return new Promise<void>((resolve) => {
      const cancel = later(clock, graceMs, resolve)
      void Promise.all([reports?.told, room?.close()]).then(() => {
        cancel()
        resolve()
      })
    }).then(() => reports?.end())
  }
}
