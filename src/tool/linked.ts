/** A signal that aborts with the first of others. */
export interface Linked {
  readonly signal: AbortSignal
  /** Takes the listeners off the others. */
  end(): void
}

/** Follows signals until `end`. `AbortSignal.any` would keep its listeners for as long as the others live. */
export function linked(...signals: readonly (AbortSignal | undefined)[]): Linked {
  const own = new AbortController()
  const others = signals.filter((signal) => signal !== undefined)
  const follow = ({ target }: { readonly target: unknown }): void =>
    own.abort((target as AbortSignal).reason)
  const aborted = others.find((signal) => signal.aborted)
  if (aborted) own.abort(aborted.reason)
  else for (const one of others) one.addEventListener('abort', follow)
  return {
    signal: own.signal,
    end: () => others.forEach((one) => one.removeEventListener('abort', follow)),
  }
}
