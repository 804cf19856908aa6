/** JSON with sorted keys, for transcripts; what JSON can't hold is written out. */
export function canonical(value: unknown): string {
  if (value instanceof Date) return `Date(${value.toISOString()})`
  if (value instanceof Map) return `Map(${canonical([...value])})`
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}
