const READY: Promise<void> = /* @__PURE__ */ Promise.resolve()

interface Waiter<Event> {
  resolve(result: IteratorResult<Event, void>): void
  reject(error: unknown): void
}

/**
 * What a run tells, for one reader. Written by hand instead of as a generator, so that `return()` never waits for a
 * pending `next()`, and a push says when there is room.
 */
export class Queue<Event> implements AsyncIterator<Event, void, void> {
  readonly #left: () => void
  #events: Event[] = []
  /** What may not be told yet. */
  #held: Event[] | undefined
  #at = 0
  #reading = false
  /** Calls of `next` that wait, in order; those before `#first` have got theirs. */
  #waiting: Waiter<Event>[] = []
  #first = 0
  #room: { readonly promise: Promise<void>; readonly free: () => void } | undefined
  #ended: { readonly error?: unknown } | undefined

  /** @param left Called when the reader leaves before the end */
  constructor(left: () => void) {
    this.#left = left
  }

  /** Whether nothing more is taken. */
  get over(): boolean {
    return this.#ended !== undefined
  }

  /** A stream that is over. */
  ended(): this {
    this.end()
    return this
  }

  /** Says that somebody has begun to read: from now on `push` waits for room. */
  begin(): void {
    this.#reading = true
  }

  /** Adds an event. Settles when there is room for the next; at once while nobody reads. */
  push(event: Event): Promise<void> {
    if (this.#ended) return READY
    if (this.#held) {
      this.#held.push(event)
      return READY
    }
    const waiting = this.#waiting[this.#first]
    if (waiting) {
      if (++this.#first === this.#waiting.length) this.#waiting.length = this.#first = 0
      waiting.resolve({ value: event, done: false })
      return READY
    }
    this.#events.push(event)
    if (!this.#reading || this.#events.length - this.#at < 64) return READY
    if (!this.#room) {
      let free = (): void => {}
      const promise = new Promise<void>((resolve) => (free = resolve))
      this.#room = { promise, free }
    }
    return this.#room.promise
  }

  /** From now on nothing is told: what is pushed isn't stored yet. What is still on hold never was. */
  hold(): void {
    this.#held = []
  }

  /** It is stored by now, and told in the order in which it was pushed. */
  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const event of held) void this.push(event)
  }

  /** Ends the stream, with an error if one is given. What is queued can still be read. */
  end(failure?: { readonly error: unknown }): void {
    if (this.#ended) return
    this.#ended = failure ?? {}
    this.#free()
    for (const { resolve, reject } of this.#waiting.slice(this.#first)) {
      if ('error' in this.#ended) this.#fail(reject)
      else resolve({ value: undefined, done: true })
    }
    this.#waiting = []
  }

  next(): Promise<IteratorResult<Event, void>> {
    if (this.#at < this.#events.length) {
      const value = this.#events[this.#at] as Event
      this.#events[this.#at++] = undefined as never
      if (this.#at === this.#events.length || this.#at > 1023) {
        this.#events = this.#events.slice(this.#at)
        this.#at = 0
      }
      if (this.#events.length - this.#at <= 32) this.#free()
      return Promise.resolve({ value, done: false })
    }
    if (this.#ended) {
      if ('error' in this.#ended) return new Promise((_, reject) => this.#fail(reject))
      return Promise.resolve({ value: undefined, done: true })
    }
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Leaves the stream at once. */
  return(): Promise<IteratorResult<Event, void>> {
    this.#events = []
    this.#at = 0
    if (this.#ended) this.#ended = {}
    else {
      this.end()
      this.#left()
    }
    return Promise.resolve({ value: undefined, done: true })
  }

  /** An error is told once; after it the stream is over. */
  #fail(reject: (error: unknown) => void): void {
    const { error } = this.#ended as { error: unknown }
    this.#ended = {}
    reject(error)
  }

  #free(): void {
    this.#room?.free()
    this.#room = undefined
  }
}
