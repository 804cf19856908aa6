/** Printable ASCII, at most 256 bytes, parts joined by `/`. Built only by `durable/keys.ts`, so every store sorts alike. A prefix ends with `/`. */
export type Key = string

/** Which commit wrote a row. Opaque; never used twice, not even after a delete. */
export type Revision = string

/** A row: the codec's text under a key. */
export interface Entry {
  readonly key: Key
  readonly value: string
  readonly revision: Revision
}

/** The row must still have this revision; `undefined`: there must be none. */
export interface Check {
  readonly key: Key
  readonly revision: Revision | undefined
}

/** Writes a row. `expires` (milliseconds since 1970) is a hint: readers check for themselves. */
export interface Put {
  readonly key: Key
  readonly value: string
  readonly expires?: number
}

/** What one commit checks and writes. */
export interface Batch {
  readonly checks?: readonly Check[]
  readonly puts?: readonly Put[]
  readonly deletes?: readonly Key[]
  /** Worth a flush to disk where the store has a choice: claims, pauses, answers, timers. */
  readonly durable?: true
}

/** What a store can promise. The core works within it or refuses; it never pretends. */
export interface Caps {
  /** A commit is all or nothing and its checks are exact. */
  readonly atomic: boolean
  /** `eventual`: a read may miss a recent write, also one's own. */
  readonly consistency: 'strong' | 'eventual'
  /** Longest value, in UTF-8 bytes. */
  readonly maxValueBytes: number
  /** Most puts and deletes, and most bytes, in one commit. */
  readonly maxBatchRows: number
  readonly maxBatchBytes: number
}

/** What `list` reads: rows under a prefix, ascending by code unit, at most `limit`, those after `after` if given. */
export interface Range {
  readonly prefix: Key
  readonly after?: Key
  readonly limit: number
}

/** An ordered key–value store: all that heddle needs to be durable. */
export interface Store {
  readonly name: string
  readonly caps: Caps
  /** What this store would need to be safe for more than a thread's first run, if it isn't: resuming is refused. */
  readonly unsafe?: string
  /** In the order asked; absent rows are `undefined`. */
  get(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]>
  /** Rows under a prefix, ascending by code unit, at most `limit`, those after `after` if given. */
  list(range: Range): Promise<readonly Entry[]>
  /** Writes all or nothing. The revision that every put got, or `undefined`: a check failed and nothing was written. Rejects when the outcome isn't known. */
  commit(batch: Batch): Promise<Revision | undefined>
  /** Removes everything under a prefix. Not atomic; safe to repeat. */
  clear(prefix: Key): Promise<void>
  /** Calls back some time after a row may have changed; returns how to stop. Only a hint: the core polls without it. */
  watch?(key: Key, changed: () => void): () => void
  /** Refuses work from then on. Safe to call twice. */
  close?(): Promise<void>
}
