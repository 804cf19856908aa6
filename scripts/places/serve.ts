import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Report } from '../../test/runtime/report.ts'
import { bundle } from './bundle.ts'

/** A server of one page, and what the page reports. */
export interface ServedPage extends AsyncDisposable {
  readonly url: string
  readonly report: Promise<Report>
}

const PAGE_TIMEOUT = 600_000

/**
 * Serves `test/runtime/page.ts` for a place. `/blank` is an empty page of the same origin, for frames.
 */
export async function servePage(place: string): Promise<ServedPage> {
  const script = await bundle('test/runtime/page.ts')
  const { promise: report, resolve, reject } = settleable<Report>()
  const timer = setTimeout(
    () => reject(new Error(`The page in ${place} gave no report in ${PAGE_TIMEOUT} ms`)),
    PAGE_TIMEOUT,
  )
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/report') {
      let body = ''
      // A chunk may end in the middle of a character.
      request.setEncoding('utf8')
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        response.end()
        resolve(JSON.parse(body) as Report)
      })
    } else if (pathname === '/page.js')
      response.setHeader('content-type', 'text/javascript').end(script)
    else {
      const load = pathname === '/' ? '<script type="module" src="/page.js"></script>' : ''
      response
        .setHeader('content-type', 'text/html')
        .end(`<!doctype html><meta charset="utf-8"><title>${place}</title>${load}`)
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/?place=${place}`,
    report,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function settleable<Value>(): {
  promise: Promise<Value>
  resolve: (value: Value) => void
  reject: (error: Error) => void
} {
  let settle!: { resolve: (value: Value) => void; reject: (error: Error) => void }
  const promise = new Promise<Value>((resolve, reject) => (settle = { resolve, reject }))
  promise.catch(() => undefined)
  return { promise, ...settle }
}
