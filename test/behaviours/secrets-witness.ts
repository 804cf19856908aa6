// Everything that a run says to anybody, and what of it is a secret.
import type { Hook, Logger, Monitor, Presence, Store } from 'heddle'

/** What was seen, and where. */
export interface Witness {
  readonly hook: Hook
  readonly logger: Logger
  readonly monitor: Monitor
  readonly presence: Presence
  /** Takes down something seen elsewhere. */
  see(where: string, what: unknown): void
  /** How often something was seen there. */
  count(where: string): number
  /** Where secrets were seen: paths. */
  leaks(secrets: readonly string[]): readonly string[]
}

/** Starts with nothing. */
export function witness(): Witness {
  const all: { readonly where: string; readonly what: unknown }[] = []
  const see = (where: string, what: unknown): void => void all.push({ where, what })
  const log =
    (level: string) =>
    (...said: unknown[]): void =>
      see(`log ${level}`, said)
  return {
    hook: { name: 'witness', onEvent: (event) => see('onEvent', event) },
    logger: { debug: log('debug'), warn: log('warn'), error: log('error') },
    monitor: { emit: (event) => see('monitor', event) },
    presence: { set: (...state) => see('presence', state) },
    see,
    count: (where) => all.filter((one) => one.where.startsWith(where)).length,
    leaks: (secrets) =>
      all.flatMap(({ where, what }) =>
        [...textsIn(what, where)].flatMap(([path, text]) =>
          secrets.some((secret) => holds(text, secret)) ? [`${path}: ${text.slice(0, 200)}`] : [],
        ),
      ),
  }
}

/** A store whose rows are seen as they are written, those too that are removed later. */
export function watched(store: Store, { see }: Pick<Witness, 'see'>): Store {
  return {
    ...store,
    commit(batch) {
      for (const { key, value } of batch.puts ?? []) see('row', [key, value])
      return store.commit(batch)
    },
  }
}

/** Whether a text holds a secret: as it is, escaped or in base64, whatever stands before it. */
function holds(text: string, secret: string): boolean {
  const plain = text.toLowerCase()
  const wanted = [secret.toLowerCase(), encodeURIComponent(secret).toLowerCase()]
  if (wanted.some((one) => plain.includes(one))) return true
  return ['', ' ', '  '].some((before) => {
    const encoded = btoa(before + secret).replace(/=+$/, '')
    // The first and the last characters depend on what stands around it.
    return text.includes(encoded.slice(before.length === 0 ? 0 : 4, -2))
  })
}

/** Every text that can be reached from a value, errors with all they have, and where it is. */
function* textsIn(
  value: unknown,
  path: string,
  seen = new Set<object>(),
): Generator<[string, string]> {
  if (typeof value === 'string') return yield [path, value]
  if (typeof value === 'symbol') return yield [path, String(value)]
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    return yield [path, String.fromCharCode(...bytes)]
  }
  if (value instanceof Error) yield [`${path} as text`, `${String(value)} ${value.stack}`]
  if (value instanceof Map || value instanceof Set || value instanceof Headers)
    yield* textsIn([...value], `${path}[…]`, seen)
  const json = tried(() => JSON.stringify(value))
  if (json !== undefined) yield [`${path} as JSON`, json]
  for (const name of Reflect.ownKeys(value)) {
    yield [`${path} key`, String(name)]
    yield* textsIn(
      tried(() => Reflect.get(value, name)),
      `${path}.${String(name)}`,
      seen,
    )
  }
}

function tried<Value>(get: () => Value): Value | undefined {
  try {
    return get()
  } catch {
    return undefined
  }
}
