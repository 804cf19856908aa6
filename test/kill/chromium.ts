import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { browserPath, chromiumFlags } from '../../scripts/browsers.ts'
import { bundle } from '../../scripts/places/bundle.ts'
import { identity, logsIn } from './log.ts'

/** A page in a Chromium that dies, and comes back with the same profile. */
export interface KilledPage {
  /**
   * Starts Chromium on the page, and kills all of its processes with SIGKILL the moment the page has reported enough.
   * After a kill Chromium lives on at least until it has begun a new log: only then has it got over the crash.
   *
   * @param phase What the page is to do: it reads it as `phase`
   * @param enough Whether this report is the last; the first one, if left out
   * @returns What the page reported, in order
   */
  visit(phase: string, enough?: (report: unknown) => boolean): Promise<readonly unknown[]>
  /** Where Chromium keeps what lasts. */
  readonly profile: string
  close(): Promise<void>
}

const FLAGS = ['--headless', '--remote-debugging-port=0', ...chromiumFlags]
const PATIENCE = 60_000

/**
 * Serves a page to browsers that don't live long.
 *
 * @param script The page's module, TypeScript; it imports `phase` and `report` from `./page.ts`
 */
export async function killedPage(script: string): Promise<KilledPage> {
  const code = await bundle(script)
  const profile = mkdtempSync(join(tmpdir(), 'heddle-kill-'))
  let hear = (_report: unknown): void => {}
  const server = createServer(async (request, response) => {
    if (request.url === '/report') {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      hear(JSON.parse(body))
      return response.end()
    }
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? code : '<!doctype html><script type=module src=/page.js></script>')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // The same port for every visit: it is a part of the origin that the database belongs to.
  const { port } = server.address() as AddressInfo

  async function visit(
    phase: string,
    enough: (report: unknown) => boolean = () => true,
  ): Promise<readonly unknown[]> {
    const old = logsIn(profile).map((log) => ({ log, id: identity(log) }))
    // Whether Chromium would read nothing any more that was written before the crash.
    const isOver = (): boolean => old.every(({ log, id }) => identity(log) !== id)
    const url = `http://127.0.0.1:${port}/?phase=${phase}`
    const args = [...FLAGS, `--user-data-dir=${profile}`, url]
    const browser = spawn(browserPath('chromium'), args, { detached: true, stdio: 'ignore' })
    const gone = once(browser, 'exit')
    const over = async (): Promise<void> => {
      while (browser.signalCode === null && !isOver()) await sleep(20)
    }
    const reports: unknown[] = []
    const heard = new Promise<string>((resolve) => {
      hear = (report) => {
        reports.push(report)
        if (!enough(report)) return
        hear = () => {}
        // At once, where nothing is to be got over.
        if (isOver()) resolve(kill(browser.pid))
        else void over().then(() => browser.signalCode ?? resolve(kill(browser.pid)))
      }
    })
    const timeout = setTimeout(() => kill(browser.pid), PATIENCE)
    const outcome = await Promise.race([heard, gone])
    clearTimeout(timeout)
    hear = () => {}
    await gone
    if (outcome !== 'killed')
      throw new Error(`Cannot finish "${phase}": Chromium ended after ${JSON.stringify(reports)}`)
    return reports
  }

  return {
    profile,
    visit,
    async close() {
      server.closeAllConnections()
      server.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

/** Ends a browser and every process that it started, as `kill -9` does. */
function kill(group: number | undefined): string {
  if (group === undefined) throw new Error('Cannot kill Chromium: it did not start')
  process.kill(-group, 'SIGKILL')
  return 'killed'
}
