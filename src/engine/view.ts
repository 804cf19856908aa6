import { copyOf } from '../durable/list.ts'
import type { State } from '../durable/state.ts'

/**
 * The state as user code reads it: plain data made for this reader. Fields that hold objects are own accessors that copy
 * when first read, so what isn't read costs nothing, and spread, JSON and structuredClone see ordinary data.
 */
export function view({ fields, values }: State): Record<string, unknown> {
  const seen: Record<string, unknown> = {}
  for (let i = 0; i < fields.length; i++) {
    const value = values[i]
    const { name } = fields[i] as { name: string }
    if (typeof value === 'object' && value !== null) lazy(seen, name, () => copyOf(value))
    else if (value !== undefined) {
      if (name === '__proto__') own(seen, name, value)
      else seen[name] = value
    }
  }
  return seen
}

/** A member that is made when first read. It stays an accessor only where the reader froze the whole. */
function lazy(seen: object, name: string, make: () => unknown): void {
  let copy: { readonly value: unknown } | undefined
  Object.defineProperty(seen, name, {
    enumerable: true,
    configurable: true,
    get() {
      if (!copy) own(seen, name, (copy = { value: make() }).value)
      return copy.value
    },
    set(value: unknown) {
      own(seen, name, value)
    },
  })
}

const own = (target: object, name: string, value: unknown): boolean =>
  Reflect.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })

/** The whole state, copied at once. */
export function snapshot(state: State): Record<string, unknown> {
  const seen = view(state)
  for (const name of Object.keys(seen)) void seen[name]
  return seen
}
