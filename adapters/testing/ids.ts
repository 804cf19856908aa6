/**
 * Ids that count up, for `newId`: `run_1`, `run_2`, `msg_1`, …
 *
 * @returns Makes the next id of a prefix; share it between apps that share a store
 */
export function countingIds(): (prefix: string) => string {
  const counts = new Map<string, number>()
  return function nextId(prefix) {
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return `${prefix}${count}`
  }
}
