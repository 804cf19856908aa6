import { browserPath } from './browsers.ts'

/** Fails the browser project, rather than leaving it out, when there is no Chromium. */
export function setup(): void {
  browserPath('chromium')
}
