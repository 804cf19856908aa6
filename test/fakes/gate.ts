/** A promise that is settled by hand. */
export interface Gate<Value = void> {
  readonly promise: Promise<Value>
  open(value: Value): void
  fail(error: unknown): void
}

export function gate<Value = void>(): Gate<Value> {
  let open!: (value: Value) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<Value>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  // It may be failed before anybody waits.
  promise.catch(() => {})
  return { promise, open, fail }
}
