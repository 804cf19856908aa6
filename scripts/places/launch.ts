import puppeteer, { type Browser } from 'puppeteer-core'
import { browserPath, chromiumFlags } from '../browsers.ts'

/** Starts a browser without a window, to be driven: Chromium over its own protocol, Firefox over WebDriver BiDi. */
export function launch(name: 'chromium' | 'firefox'): Promise<Browser> {
  const isChromium = name === 'chromium'
  return puppeteer.launch({
    headless: true,
    browser: isChromium ? 'chrome' : 'firefox',
    executablePath: browserPath(name),
    args: isChromium ? [...chromiumFlags] : [],
  })
}
