import { createHash, type BinaryLike } from 'node:crypto'
import type { World } from './world.ts'

/**
 * Puts the world in the place of what the platform would do in its own time: timers, the time of day, digests (Web
 * Crypto's come from other threads, whenever those are done) and chance. Returns how to undo it.
 *
 * Timers set so belong to nobody: what they wake in a process that is gone ends at its next operation.
 */
export function install(world: World): () => void {
  const { setTimeout, clearTimeout, Date } = globalThis
  const { now } = Date
  const cancels = new Map<number, () => void>()
  let made = 0

  Date.now = () => world.time
  globalThis.setTimeout = ((call: () => void, ms = 0) => {
    const id = ++made
    cancels.set(id, world.timer(undefined, 'platform timer', ms, call))
    return id
  }) as unknown as typeof setTimeout
  globalThis.clearTimeout = ((id: number) => {
    cancels.get(id)?.()
    cancels.delete(id)
  }) as typeof clearTimeout

  const digest = async (_: string, bytes: BinaryLike): Promise<ArrayBuffer> => {
    if (!world.calm && world.luck.chance(0.05)) await world.pass(undefined, 'digest')
    const hash = createHash('sha256').update(bytes).digest()
    return hash.buffer.slice(hash.byteOffset, hash.byteOffset + hash.byteLength) as ArrayBuffer
  }
  Object.defineProperty(crypto.subtle, 'digest', { value: digest, configurable: true })
  const randomUUID = (): string =>
    `${String(++made).padStart(6, '0')}${'0'.repeat(2)}-0000-4000-8000-000000000000`
  Object.defineProperty(crypto, 'randomUUID', { value: randomUUID, configurable: true })

  return () => {
    Date.now = now
    Object.assign(globalThis, { setTimeout, clearTimeout })
    Reflect.deleteProperty(crypto.subtle, 'digest')
    Reflect.deleteProperty(crypto, 'randomUUID')
  }
}
