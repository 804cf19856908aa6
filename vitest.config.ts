import { fileURLToPath } from 'node:url'
import { cloudflareTest } from '@cloudflare/vitest-pool-workers'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromiumFlags } from './scripts/browsers.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
// Tests import the package by the names its users do, and get the sources.
const resolve = {
  alias: [
    { find: /^heddle$/, replacement: `${root}src/index.ts` },
    { find: /^heddle\/(.+)$/, replacement: `${root}adapters/$1.ts` },
  ],
}
export default defineConfig({
  test: {
    reporters: ['default', './scripts/count-reporter.ts'],
    projects: [
      {
        resolve,
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/dom/**', 'test/workerd/**', 'test/browser/**'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve,
        test: { name: 'happy-dom', environment: 'happy-dom', include: ['test/dom/**/*.test.ts'] },
      },
      {
        resolve,
        // The pool adds nodejs_compat for itself. The proof without any flag is test/architecture and test/runtime.
        plugins: [cloudflareTest({ wrangler: { configPath: './test/workerd/wrangler.jsonc' } })],
        test: {
          name: 'workerd',
          include: ['test/workerd/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve,
        optimizeDeps: { include: ['idb', 'nanoid', 'zod'] },
        test: {
          name: 'chromium',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          globalSetup: ['./scripts/need-chromium.ts'],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            api: { host: '127.0.0.1' },
            provider: playwright({
              launchOptions: {
                executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
                args: [...chromiumFlags],
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
})
