import { StorageClosed } from '../src/index.ts'
import type { Entry, Key, Store } from '../src/index.ts'

/** A key of Deno KV: the prefix, then heddle's key. As one part, strings sort as they do in JavaScript. */
type Path = readonly [prefix: string, key: Key]

/** What Deno KV read under a key. */
interface Read {
  readonly key: readonly unknown[]
  readonly value: unknown
  readonly versionstamp: string | null
}

/** One atomic operation of Deno KV, as far as this adapter uses it. */
export interface DenoKvAtomic {
  check(check: { key: Path; versionstamp: string | null }): unknown
  set(key: Path, value: Uint8Array, options?: { expireIn?: number }): unknown
  delete(key: Path): unknown
  commit(): Promise<{ ok: true; versionstamp: string } | { ok: false }>
}

/** The part of `Deno.Kv` that this adapter uses. */
export interface DenoKv {
  getMany(keys: readonly Path[]): Promise<readonly Read[]>
  list(range: { start: Path; end: Path }, options?: { limit?: number }): AsyncIterable<Read>
  atomic(): DenoKvAtomic
  watch(keys: readonly Path[]): ReadableStream<unknown>
}

/** Where rows lie. */
export interface DenoKvOptions {
  /** First part of every key; at most 50 bytes. @default 'heddle' */
  readonly prefix?: string
}

const NAME = 'deno-kv'
/** With keys of 256 bytes, each counted twice, a full batch stays within the 819,200 bytes that Deno KV takes at once. */
const MAX_PREFIX_BYTES = 50
const MAX_VALUE_BYTES = 65_000
/** How many keys Deno KV reads at once, and how many changes it takes. */
const READS = 10
const CHANGES = 1000

/**
 * Keeps everything in Deno KV. A commit is one atomic operation, whose versionstamp is the revision.
 *
 * @param kv What `Deno.openKv()` gave; it isn't closed with the store
 * @param options Where rows lie
 * @throws {RangeError} The prefix is too long
 */
export function denoKv(kv: DenoKv, { prefix = 'heddle' }: DenoKvOptions = {}): Store {
  if (utf8(prefix).length > MAX_PREFIX_BYTES)
    throw new RangeError(`Cannot use prefix "${prefix}": at most ${MAX_PREFIX_BYTES} bytes fit`)
  const utf8Text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
  const watches = new Set<() => void>()
  let closed = false
  const path = (key: Key): Path => [prefix, key]

  function open(): DenoKv {
    if (!closed) return kv
    throw new StorageClosed(`Cannot use store "${NAME}": it is closed`, { store: NAME })
  }

  function entryOf({ key, value, versionstamp: revision }: Read): Entry | undefined {
    if (revision === null) return undefined
    return { key: key[1] as Key, value: utf8Text.decode(value as Uint8Array), revision }
  }

  /** Rows under a prefix. No key has a character behind `~`. */
  const under = (root: Key, after = '', limit = Infinity): AsyncIterable<Read> =>
    open().list(
      { start: path(after < root ? root : `${after}\0`), end: path(`${root}\x7f`) },
      limit < Infinity ? { limit } : {},
    )

  return {
    name: NAME,
    caps: {
      atomic: true,
      consistency: 'strong',
      maxValueBytes: MAX_VALUE_BYTES,
      maxBatchRows: 160,
      maxBatchBytes: 700_000,
    },
    async get(keys) {
      const db = open()
      const reads: Promise<readonly Read[]>[] = []
      for (let at = 0; at < keys.length; at += READS)
        reads.push(db.getMany(keys.slice(at, at + READS).map(path)))
      return (await Promise.all(reads)).flat().map(entryOf)
    },
    async list({ prefix: root, after, limit }) {
      open()
      const found: Entry[] = []
      if (limit >= 1 && !(after && after >= `${root}\x7f`))
        for await (const read of under(root, after, limit)) found.push(entryOf(read) as Entry)
      return found
    },
    async commit({ checks = [], puts = [], deletes = [] }) {
      const atomic = open().atomic()
      for (const { key, revision = null } of checks) {
        // Another text than a versionstamp would throw.
        if (revision !== null && !/^[0-9a-f]{20}$/.test(revision)) return undefined
        atomic.check({ key: path(key), versionstamp: revision })
      }
      for (const { key, value, expires } of puts) {
        const bytes = utf8(value)
        if (bytes.length > MAX_VALUE_BYTES)
          throw new RangeError(`Cannot write row "${key}": at most ${MAX_VALUE_BYTES} bytes fit`)
        const left = Math.ceil(expires! - Date.now())
        atomic.set(path(key), bytes, Number.isFinite(left) ? { expireIn: Math.max(1, left) } : {})
      }
      for (const key of deletes) atomic.delete(path(key))
      const result = await atomic.commit()
      return result.ok ? result.versionstamp : undefined
    },
    async clear(root) {
      let keys: Path[] = []
      const flush = async (): Promise<void> => {
        const atomic = open().atomic()
        for (const key of keys) atomic.delete(key)
        keys = []
        await atomic.commit()
      }
      for await (const { key } of under(root)) {
        if (keys.push(key as unknown as Path) === CHANGES) await flush()
      }
      await flush()
    },
    watch(key, changed) {
      const reader = open()
        .watch([path(key)])
        .getReader()
      const stop = (): void => {
        watches.delete(stop)
        reader.cancel().catch(ignore)
      }
      const follow = async (): Promise<void> => {
        while (!(await reader.read()).done) if (watches.has(stop)) queueMicrotask(changed)
      }
      watches.add(stop)
      // A hint that breaks off is none: whoever watches polls as well.
      follow().catch(ignore).finally(stop)
      return stop
    },
    async close() {
      closed = true
      for (const stop of watches) stop()
    },
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const ignore = (): void => {}
