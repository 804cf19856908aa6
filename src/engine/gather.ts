import type { Claim } from '../durable/claim.ts'
import type { ThreadRows } from '../durable/reach.ts'
import type { Key } from '../store/store.ts'
import { rows } from './list.ts'
import type { App } from './run.ts'

/** All rows of a thread as they are to be, those that its last claim may not have written yet included. */
export async function gather(app: App, { root, head }: Claim): Promise<ThreadRows> {
  const found = new Map<Key, string>()
  for await (const { key, value } of rows(app, root)) found.set(key.slice(root.length), value)
  const { redo = [] } = head
  for (const [key, value] of redo)
    if (!key.startsWith(root)) continue
    else if (value === null) found.delete(key.slice(root.length))
    else found.set(key.slice(root.length), value)
  return redo.length > 0 ? new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1))) : found
}
