// A GET would wait in the cache's queue for the other tab's GET of the same address.
const ASKED = { method: 'POST' } as const

/** Which tab this is. */
export const tab: string = new URLSearchParams(location.search).get('tab') ?? ''

/** Tells the test something. */
export async function tell(what: string, more: object = {}): Promise<void> {
  await fetch('/tell', { method: 'POST', body: JSON.stringify({ tab, what, ...more }) })
}

/** Waits until the test opens a gate. */
export async function pass(gate: string): Promise<void> {
  await fetch(`/gate?name=${gate}`, ASKED)
}

/** Waits until the other tab comes to the same place. */
export async function meet(place: string): Promise<void> {
  await fetch(`/meet?name=${place}`, ASKED)
}

addEventListener('error', (event) => void tell('failed', { error: String(event.error) }))
addEventListener(
  'unhandledrejection',
  (event) => void tell('failed', { error: String(event.reason) }),
)
