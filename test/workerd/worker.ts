import { DurableObject } from 'cloudflare:workers'

/** An object with SQLite, for tests to run in. */
export class Room extends DurableObject {}

export default {
  fetch: (): Response => new Response(null, { status: 404 }),
}
