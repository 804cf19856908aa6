/** What this visit of the page is for. */
export const phase: string = new URLSearchParams(location.search).get('phase') ?? ''

/** Tells the test something. After the last thing that it waits for, the browser is dead. */
export async function report(what: unknown): Promise<void> {
  await fetch('/report', { method: 'POST', body: JSON.stringify(what) })
}

addEventListener('error', (event) => void report({ error: String(event.error ?? event.message) }))
addEventListener('unhandledrejection', (event) => void report({ error: String(event.reason) }))
