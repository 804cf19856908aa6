import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { describe, expect, it } from 'vitest'
import { exported, sourceOf } from '../../scripts/entries.ts'
import { filesIn, importsOf } from './sources.ts'

it('the core imports nothing but nanoid, an adapter nothing but its peers', () => {
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    peerDependencies: Record<string, string>
  }
  const allowed = { src: ['nanoid'], adapters: Object.keys(peerDependencies) }
  const foreign = (['src', 'adapters'] as const).flatMap((folder) =>
    filesIn(folder).flatMap((file) =>
      importsOf(file)
        .filter(
          ({ specifier }) =>
            !specifier.startsWith('.') &&
            !allowed[folder].some((name) => specifier === name || specifier.startsWith(`${name}/`)),
        )
        .map(({ specifier }) => `${file} imports ${specifier}`),
    ),
  )
  expect(foreign).toEqual([])
})

describe.each(Object.keys(exported()))('importing "%s"', (key) => {
  it('touches no timer, clock, randomness, network, storage or platform', async () => {
    const globals = {}
    for (const name of untouchable)
      Object.defineProperty(globals, name, { get: () => refuse(name) })
    const context = createContext(globals)
    runInContext(
      'Math.random = Date.now = () => { throw new Error("asked for randomness or the time") }',
      context,
    )
    const script = await bundled(sourceOf(key), 'iife')
    expect(Object.keys(runInContext(`${script}; exported`, context) as object)).not.toEqual([])
  })

  it('works in workerd without compatibility flags', async () => {
    const script = `${await bundled(sourceOf(key), 'esm')}\nexport default { fetch: () => Response.json(true) }`
    const miniflare = new Miniflare({
      modules: true,
      script,
      compatibilityDate: '2026-04-01',
      compatibilityFlags: [],
      cf: false,
    })
    try {
      const response = await miniflare.dispatchFetch('http://localhost/')
      expect(await response.text()).toBe('true')
    } finally {
      await miniflare.dispose()
    }
  })
})

const untouchable = `
  setTimeout setInterval setImmediate clearTimeout queueMicrotask performance scheduler
  crypto AbortController AbortSignal EventTarget BroadcastChannel MessageChannel Worker
  fetch WebSocket indexedDB localStorage caches navigator location document window self
  process Buffer require Deno Bun structuredClone addEventListener
`
  .trim()
  .split(/\s+/)

function refuse(name: string): never {
  throw new Error(`asked for ${name}`)
}

async function bundled(entry: string, format: 'esm' | 'iife'): Promise<string> {
  const { outputFiles } = await build({
    // The import is kept for what it does; all that it exports stays, so nothing is shaken off before it runs.
    stdin: {
      contents:
        format === 'iife'
          ? `export * from './${entry}'`
          : `import * as all from './${entry}'; globalThis.kept = () => all`,
      resolveDir: '.',
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format,
    globalName: 'exported',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  })
  return outputFiles.map(({ text }) => text).join('')
}
