import { DurableObject } from 'cloudflare:workers'

/** An object for tests to run in, with SQLite. */
export class Room extends DurableObject {
  /** Another one after the object was evicted. */
  readonly id: string = crypto.randomUUID()
}

/** An object that keeps keys and values without SQLite. */
export class Plain extends Room {}
