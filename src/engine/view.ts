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
    if (typeof value === 'object' && value !== null) {
      Object.defineProperty(seen, name, {
        enumerable: true,
        configurable: true,
        get: () => own(seen, name, copyOf(value)),
        set(changed: unknown) {
          own(seen, name, changed)
        },
      })
    } else if (value !== undefined) {
      if (name === '__proto__') own(seen, name, value)
      else seen[name] = value
    }
  }
  return seen
}

function own(target: object, name: string, value: unknown): unknown {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
  return value
}

/** The whole state, copied at once. */
export function snapshot(state: State): Record<string, unknown> {
  const seen = view(state)
  for (const name of Object.keys(seen)) void seen[name]
  return seen
}
