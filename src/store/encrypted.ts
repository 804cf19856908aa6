import { CorruptCheckpoint } from '../errors.ts'
import { fromBase64, toBase64 } from '../lib/base64.ts'
import { over } from './over.ts'
import type { Caps, Entry, Key, Store } from './store.ts'

/** The keys of an encrypted store: AES-GCM, of any length. */
export interface EncryptedOptions {
  /** New values are sealed with it. A function is called once, when it is first needed. */
  readonly key: CryptoKey | (() => Promise<CryptoKey>)
  /** Id of `key`, written beside every value: 1 to 64 letters, digits, `_` or `-`. @default '1' */
  readonly id?: string
  /** Older keys by id, for reading. */
  readonly old?: { readonly [id: string]: CryptoKey }
}

const ID = /^[\w-]{1,64}$/
const UTF8 = { fatal: true, ignoreBOM: true } as const
const IV_BYTES = 12
/** What a value grows by before it becomes base64: its IV and its tag. */
const MORE_BYTES = IV_BYTES + 16

/**
 * Wraps a store: values are sealed with AES-GCM and bound to their keys; key names stay readable. Against who can read or
 * change rows, not against who can put back an older row or remove one.
 *
 * A row that can't be opened (another key, an unknown id, a changed or moved value, one that was never sealed) is
 * `CorruptCheckpoint`: `get` rejects with it, a listed entry throws it when its `value` is read.
 *
 * @param store Where the rows are; closed with this one
 * @throws {RangeError} An id is malformed, or that of `key` names an old one too
 * @throws {TypeError} A key is none
 */
export function encrypted(store: Store, options: EncryptedOptions): Store {
  const { key, id = '1', old = {} } = Object(options) as EncryptedOptions
  const isKey = (one: unknown): boolean => typeof Object(one).algorithm === 'object'
  if (!(typeof key === 'function' || isKey(key)) || !Object.values(old).every(isKey))
    throw new TypeError(`Cannot encrypt store "${store.name}": a key is no CryptoKey`)
  for (const one of [id, ...Object.keys(old)]) {
    if (!ID.test(one) || (one === id && Object.hasOwn(old, id)))
      throw new RangeError(
        `Cannot encrypt store "${store.name}": "${one}" can't be the id of a key, or is that of two`,
      )
  }
  let loaded: Promise<CryptoKey> | undefined

  function current(): CryptoKey | Promise<CryptoKey> {
    if (typeof key !== 'function') return key
    if (!loaded) {
      loaded = (async () => key())()
      // The next call tries again.
      loaded.catch(() => (loaded = undefined))
    }
    return loaded
  }

  async function seal(row: Key, text: string): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const data = await crypto.subtle.encrypt(
      cipher(iv, id, row),
      await current(),
      new TextEncoder().encode(text),
    )
    const bytes = new Uint8Array(IV_BYTES + data.byteLength)
    bytes.set(iv)
    bytes.set(new Uint8Array(data), IV_BYTES)
    return `${id}.${toBase64(bytes)}`
  }

  async function open({ key: row, value, revision }: Entry): Promise<Entry> {
    const dot = value.indexOf('.')
    const named = value.slice(0, Math.max(0, dot))
    if (!ID.test(named)) throw unreadable(row, 'it is not sealed')
    const by = named === id ? await current() : Object.hasOwn(old, named) && old[named]
    if (!by) throw unreadable(row, `it is sealed with key "${named}", which is not here`)
    try {
      const bytes = fromBase64(value.slice(dot + 1))
      const algorithm = cipher(bytes.subarray(0, IV_BYTES), named, row)
      const text = await crypto.subtle.decrypt(algorithm, by, bytes.subarray(IV_BYTES))
      return { key: row, value: new TextDecoder('utf-8', UTF8).decode(text), revision }
    } catch (error) {
      // A key that may not decrypt is no damage.
      if (!/^(Operation|InvalidCharacter)Error$/.test((error as Error).name)) throw error
      throw unreadable(row, `key "${named}" is another one, or it was changed or moved`)
    }
  }

  /** One row that can't be opened mustn't hide the others: it says so when its value is read. */
  const listed = (entry: Entry): Promise<Entry> =>
    open(entry).catch((error: unknown) => {
      if (!(error instanceof CorruptCheckpoint)) throw error
      const { key: row, revision } = entry
      return {
        key: row,
        revision,
        get value(): string {
          throw error
        },
      }
    })

  return over(store, {
    caps: capsOf(store.caps, id),
    get: async (keys) => Promise.all((await store.get(keys)).map((entry) => entry && open(entry))),
    list: async (range) => Promise.all((await store.list(range)).map(listed)),
    async commit({ puts = [], ...batch }) {
      const sealed = puts.map(async (put) => ({ ...put, value: await seal(put.key, put.value) }))
      return store.commit({ ...batch, puts: await Promise.all(sealed) })
    },
  })
}

/** What is left of a store's limits when every value gets its id, its IV and its tag, and three bytes become four. */
function capsOf(caps: Caps, { length }: string): Caps {
  const { maxValueBytes, maxBatchBytes } = caps
  const extra = length + 1 + Math.ceil((MORE_BYTES * 4 + 8) / 3)
  // Of a batch's bytes at most a quarter is for what rows get.
  const rows = Math.min(caps.maxBatchRows, Math.floor(maxBatchBytes / 4 / extra))
  const plain = (bytes: number): number => Math.floor((bytes * 3) / 4)
  return {
    ...caps,
    maxValueBytes: Math.floor((maxValueBytes - length - 1) / 4) * 3 - MORE_BYTES,
    maxBatchRows: rows,
    maxBatchBytes: maxBatchBytes < Infinity ? plain(maxBatchBytes - rows * extra) : Infinity,
  }
}

/** A value belongs to its row and its key: sealed as one, it can't be opened as another. */
const cipher = (iv: Uint8Array<ArrayBuffer>, id: string, row: Key) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(`${id}/${row}`),
})

function unreadable(row: Key, why: string): CorruptCheckpoint {
  const thread = threadOf(row)
  return new CorruptCheckpoint(`Cannot read row "${row}" of thread "${thread}": ${why}`, {
    thread,
    why,
  })
}

/** The name of the thread in a row's key, as far as it can be told: long names are digests. */
function threadOf(row: Key): string {
  const [, name] = /^[ht]\/[^./]*\.([^./]*)/.exec(row) ?? []
  return (
    name?.replaceAll(/~([0-9a-f]{4})|~e/g, (_, unit?: string) =>
      unit ? String.fromCharCode(Number.parseInt(unit, 16)) : '',
    ) ?? row
  )
}
