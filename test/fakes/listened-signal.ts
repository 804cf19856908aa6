/** A caller's signal that knows how many listeners it has. */
export interface CountedSignal {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  listeners(): number
}

export function listenedSignal(): CountedSignal {
  const controller = new AbortController()
  const { signal } = controller
  const live = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: never, options?: never) => {
    live.add(listener)
    add(type, listener, options)
  }
  signal.removeEventListener = (type: string, listener: never) => {
    live.delete(listener)
    remove(type, listener)
  }
  return { signal, abort: (reason) => controller.abort(reason), listeners: () => live.size }
}
