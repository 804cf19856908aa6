import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bundle } from '../../scripts/places/bundle.ts'

const PATIENCE = 170_000

/** What a page told, and which tab did. */
export interface Told {
  readonly tab: string
  readonly what: string
  readonly [more: string]: unknown
}

/** A server of one page for several tabs, which meet at it and tell it things. */
export interface Site extends AsyncDisposable {
  /** The page's address in a tab of this name. */
  url(tab: string): string
  /** All that was told so far, in order. */
  readonly told: readonly Told[]
  /** Resolves with the first thing told that fits, also one of before. Rejects when a page has failed. */
  heard(fits: (told: Told) => boolean): Promise<Told>
  /** Lets those go on that wait at a gate, now or later. */
  open(gate: string): void
}

/**
 * Serves a page.
 *
 * @param script The page's module, TypeScript; it talks through `./page.ts`
 * @param opens Which gate opens now that this was told
 */
export async function site(
  script: string,
  opens: (told: Told, all: readonly Told[]) => string | undefined = () => undefined,
): Promise<Site> {
  const code = await bundle(script)
  const told: Told[] = []
  const listeners = new Set<() => void>()
  const gates = new Map<string, { isOpen: boolean; waiting: ServerResponse[] }>()
  const gate = (name: string) => {
    const known = gates.get(name) ?? { isOpen: false, waiting: [] }
    gates.set(name, known)
    return known
  }
  function open(name: string): void {
    const one = gate(name)
    one.isOpen = true
    for (const response of one.waiting.splice(0)) response.end()
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site')
    const name = searchParams.get('name') ?? ''
    if (pathname === '/tell') {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const one = JSON.parse(body) as Told
      told.push(one)
      response.end()
      const opened = opens(one, told)
      if (opened !== undefined) open(opened)
      for (const listener of listeners) listener()
    } else if (pathname === '/gate') {
      if (gate(name).isOpen) response.end()
      else gate(name).waiting.push(response)
    } else if (pathname === '/meet') {
      // Both are let go at once, by whoever comes second.
      const { waiting } = gate(name)
      if (waiting.push(response) === 2) open(name)
    } else {
      const isScript = pathname === '/page.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? code : '<!doctype html><script type=module src=/page.js></script>')
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (tab) => `http://127.0.0.1:${port}/?tab=${tab}`,
    told,
    heard: (fits) =>
      new Promise((resolve, reject) => {
        function end(why?: string): void {
          clearTimeout(timer)
          listeners.delete(look)
          const last = JSON.stringify(told.slice(-4))
          if (why !== undefined) reject(new Error(`Cannot go on: ${why}; last told: ${last}`))
        }
        function look(): void {
          const found = told.find(fits)
          if (found) resolve(found)
          if (found) end()
          else if (told.some(({ what }) => what === 'failed')) end('a page has failed')
        }
        const timer = setTimeout(() => end(`nothing came in ${PATIENCE} ms`), PATIENCE)
        listeners.add(look)
        look()
      }),
    open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
