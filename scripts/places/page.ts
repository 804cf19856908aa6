import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from '../../test/runtime/report.ts'
import { browserPath } from '../browsers.ts'
import { launch } from './launch.ts'
import { servePage } from './serve.ts'

/** Runs in a page of Chromium. */
export const chromium = (): Promise<Report> => driven('chromium')

/** Runs in a page of Firefox. */
export const firefox = (): Promise<Report> => driven('firefox')

async function driven(place: 'chromium' | 'firefox'): Promise<Report> {
  await using page = await servePage(place)
  const browser = await launch(place)
  try {
    const tab = await browser.newPage()
    await tab.goto(page.url)
    return await page.report
  } finally {
    await browser.close()
  }
}

/** Runs in a page of WebKitGTK's MiniBrowser, on a display of its own. */
export async function webkit(): Promise<Report> {
  await using page = await servePage('webkit')
  const home = mkdtempSync(join(tmpdir(), 'heddle-webkit-'))
  const screen = spawn(
    browserPath('xvfb'),
    ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  )
  const directories = Object.fromEntries(
    ['HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'].map(
      (name) => [name, home],
    ),
  )
  try {
    const display = await new Promise((resolve) =>
      screen.stdio[3]?.once('data', (number) => resolve(`:${String(number).trim()}`)),
    )
    const browser = spawn(browserPath('webkit'), [page.url], {
      detached: true,
      stdio: 'ignore',
      env: {
        ...process.env,
        ...directories,
        DISPLAY: String(display),
        GDK_BACKEND: 'x11',
        LIBGL_ALWAYS_SOFTWARE: '1',
        NO_AT_BRIDGE: '1',
      },
    })
    try {
      return await page.report
    } finally {
      if (browser.pid !== undefined) process.kill(-browser.pid, 'SIGTERM')
      await sleep(500)
    }
  } finally {
    screen.kill()
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}
