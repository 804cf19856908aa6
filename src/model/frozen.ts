import { isPart, isRecord } from '../durable/codec-tags.ts'

/** Freezes lists and plain objects, all the way down. */
export function frozen<Value>(value: Value): Value {
  if (!isPart(value) || !(Array.isArray(value) || isRecord(value))) return value
  for (const one of Object.values(value)) frozen(one)
  return Object.freeze(value)
}
