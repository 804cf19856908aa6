/** Whether two values are the same in every way a program can see; identity and the stacks of errors aside. */
export function alike(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null)
    return Object.is(a, b)
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime())
  if (a instanceof Map || a instanceof Set) return alike([...a], [...(b as Set<unknown>)])
  if (a instanceof ArrayBuffer)
    return alike([...new Uint8Array(a)], [...new Uint8Array(b as ArrayBuffer)])
  if (ArrayBuffer.isView(a)) return alike(windowOf(a), windowOf(b as ArrayBufferView))
  if (a instanceof Error && !alike([a.name, a.message], [(b as Error).name, (b as Error).message]))
    return false
  const keys = membersOf(a)
  return (
    keys.join() === membersOf(b).join() &&
    keys.every((key) => {
      const [one, other] = [
        Object.getOwnPropertyDescriptor(a, key),
        Object.getOwnPropertyDescriptor(b, key),
      ]
      return one?.enumerable === other?.enumerable && alike(one?.value, other?.value)
    })
  )
}

/** Every object in a value, itself included. */
export function objectsIn(value: unknown, found: Set<object> = new Set()): Set<object> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found
  found.add(value)
  if (value instanceof Map || value instanceof Set) for (const part of value) objectsIn(part, found)
  if (ArrayBuffer.isView(value)) return found.add(value.buffer)
  for (const key of Object.getOwnPropertyNames(value))
    objectsIn((value as Record<string, unknown>)[key], found)
  return found
}

// Whether an error has its name of its own or from its class can't be told by reading it. Engines add where it was made.
const PLACE = /^((original)?(line|column)(number)?|(source)?url|filename|stack|name|message)$/i

function membersOf(value: object): string[] {
  const keys = Object.getOwnPropertyNames(value)
  return value instanceof Error ? keys.filter((key) => !PLACE.test(key)).sort() : keys
}

function windowOf(view: ArrayBufferView): number[] {
  return [...new Uint8Array(view.buffer, view.byteOffset, view.byteLength)]
}
