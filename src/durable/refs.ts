import type { LogRef } from './log.ts'

/** Where the state of a checkpoint stands: the log of its plain fields, and one of each list, and of each list of messages. */
export interface StateRefs {
  readonly p?: LogRef | undefined
  readonly l?: ListRefs | undefined
  readonly m?: ListRefs | undefined
}

/** A log for each field. */
export type ListRefs = { readonly [field: string]: LogRef }

/** The same state as seen from another branch. */
export const sharedRefs = ({ p, l, m }: StateRefs): StateRefs => {
  const share = ([generation, updates]: LogRef): LogRef => [generation, updates, 1]
  const all = (lists: ListRefs = {}): ListRefs =>
    Object.fromEntries(Object.entries(lists).map(([field, ref]) => [field, share(ref)] as const))
  return { p: p && share(p), l: l && all(l), m: m && all(m) }
}
