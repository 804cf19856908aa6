import { wrap } from 'idb'
import { StorageBlocked } from '../../src/index.ts'

const VERSION = 1

/**
 * Opens a database, or closes it again if that takes too long.
 *
 * @param onLoss Called when the browser could not read what was in it, and made it anew
 */
export async function open(
  factory: IDBFactory | undefined,
  name: string,
  onLoss: () => void,
): Promise<IDBDatabase> {
  if (!factory) throw new TypeError(`Cannot open database "${name}": IndexedDB isn't here`)
  const opening = ask(factory, name, onLoss, VERSION).catch((error: unknown) => {
    // A newer heddle made it; versions only add, so take it as it is.
    if (nameOf(error) === 'VersionError') return ask(factory, name, onLoss)
    throw error
  })
  const late = new Promise<undefined>((resolve) => {
    const timer = setTimeout(resolve, 5000)
    opening.catch(ignore).then(() => clearTimeout(timer))
  })
  const db = await Promise.race([opening, late])
  if (db) return db
  opening.then((opened) => opened.close(), ignore)
  throw new StorageBlocked(`Cannot open database "${name}": other tabs may hold it`, {
    store: name,
  })
}

async function ask(
  factory: IDBFactory,
  name: string,
  onLoss: () => void,
  version?: number,
): Promise<IDBDatabase> {
  const request = factory.open(name, version)
  request.addEventListener('upgradeneeded', (event) => {
    // Chromium's own word.
    if ((event as { readonly dataLoss?: unknown }).dataLoss === 'total') onLoss()
    request.result.createObjectStore('rows')
    request.result.createObjectStore('meta').put(randomId(), 'id')
  })
  await wrap(request)
  return request.result
}

/**
 * Makes Chromium begin a new log, which it does when a database is deleted. After a crash it goes on behind the record
 * that was cut off, and once it reads on from there it drops the whole database.
 */
export async function beginLog(name: string): Promise<void> {
  const { indexedDB, IDBVersionChangeEvent } = globalThis
  if (!IDBVersionChangeEvent || !('dataLoss' in IDBVersionChangeEvent.prototype)) return
  const scratch = `${name}.${randomId()}`
  try {
    const request = indexedDB.open(scratch)
    await wrap(request)
    request.result.close()
    await wrap(indexedDB.deleteDatabase(scratch))
  } catch {
    // It is full, say: nothing is worse than before.
  }
}

export const randomId = (): string => crypto.getRandomValues(new Uint32Array(3)).join('')
export const nameOf = (error: unknown): string => (error as Error).name
export const ignore = (): void => {}
