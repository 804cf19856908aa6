// What an app pays in its bundle: min + gzip, and nothing in it that a platform lacks. 1 kB is 1,000 bytes.
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

interface Measure {
  readonly name: string
  /** The module an app would write. */
  readonly code: string
  /** What it is meant to be, in bytes. */
  readonly target: number
  /** What it may not pass, where it is over its target: what has been reached, so that it only gets smaller. */
  readonly reached?: number
  readonly external?: readonly string[]
  /** Leaves the core out: an adapter beside an app that has it already. */
  readonly withoutCore?: true
}

const measures: readonly Measure[] = [
  {
    name: 'core with memory store',
    code: `export { compile, graph, memory } from 'heddle'`,
    target: 16_000,
    // 42.3 before tools, hooks, caches and scopes, and 50.0 before models; what of them `compile` reaches is in it: requests
    // to models, lists of messages, usage, monitors.
    reached: 61_300,
  },
  {
    name: 'scopes',
    code: `export { closeScope, currentContext, LoopRunner, scoped, scopeLocal, withContext } from 'heddle'`,
    target: 3_000,
  },
  { name: 'graph alone', code: `export { graph } from 'heddle'`, target: 500 },
  {
    name: 'heddle/indexeddb, without idb and the core',
    code: `export * from 'heddle/indexeddb'`,
    target: 2_500,
    external: ['idb'],
    withoutCore: true,
  },
  {
    name: 'heddle/cloudflare-kv, without the core',
    code: `export * from 'heddle/cloudflare-kv'`,
    target: 2_000,
    reached: 2_600,
    withoutCore: true,
  },
  {
    name: 'heddle/deno-kv, without the core',
    code: `export * from 'heddle/deno-kv'`,
    target: 1_500,
    withoutCore: true,
  },
  {
    name: 'heddle/durable-object, without the core',
    code: `export * from 'heddle/durable-object'`,
    target: 3_000,
    withoutCore: true,
  },
  {
    name: 'heddle/d1, without the core',
    code: `export * from 'heddle/d1'`,
    target: 3_000,
    withoutCore: true,
  },
  {
    name: 'heddle/mcp, without the core',
    code: `export * from 'heddle/mcp'`,
    target: 3_000,
    withoutCore: true,
  },
  {
    name: 'heddle/ai-sdk, without the core',
    code: `export * from 'heddle/ai-sdk'`,
    target: 3_000,
    withoutCore: true,
  },
  {
    name: 'heddle/openai, without the core',
    code: `export * from 'heddle/openai'`,
    target: 3_000,
    // The quirks of a dozen servers, each with its test.
    reached: 3_200,
    withoutCore: true,
  },
  {
    name: 'heddle/prompt-api, without the core',
    code: `export * from 'heddle/prompt-api'`,
    target: 3_000,
    withoutCore: true,
  },
  {
    name: 'heddle/web-llm, without the core',
    code: `export * from 'heddle/web-llm'`,
    target: 3_000,
    withoutCore: true,
  },
  {
    name: 'heddle/otel, without its peer and the core',
    code: `export * from 'heddle/otel'`,
    target: 3_000,
    // An agent that fails with its model, or is asked again, says so in its span.
    reached: 3_050,
    external: ['@opentelemetry/api'],
    withoutCore: true,
  },
  {
    name: 'heddle/browser, without the core',
    code: `export * from 'heddle/browser'`,
    target: 3_000,
    withoutCore: true,
  },
]

const forbidden = [/["']node:/, /async_hooks/, /\beval\(/, /new Function\b/]

const core: Plugin = {
  name: 'core-is-external',
  setup({ onResolve }) {
    onResolve({ filter: /\/src\// }, ({ path }) => ({ path, external: true, sideEffects: false }))
  },
}

let failed = 0
for (const measure of measures) {
  const problems: string[] = []
  let size = 0
  try {
    const text = await bundle(measure)
    size = gzipSync(text, { level: 9 }).length
    const limit = measure.reached ?? measure.target
    if (size > limit) problems.push(`${size - limit} bytes more than it may be (${kB(limit)})`)
    for (const word of forbidden) if (word.test(text)) problems.push(`it holds ${word}`)
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  }
  if (problems.length > 0) failed++
  console.log(
    `${kB(size).padStart(9)}  target ${kB(measure.target).padStart(8)}${size > measure.target ? ' MISSED' : ''}  ${measure.name}${problems.map((problem) => `\n           FAIL ${problem}`).join('')}`,
  )
}
process.exitCode = failed > 0 ? 1 : 0

async function bundle({ code, external = [], withoutCore }: Measure): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: '.', loader: 'ts' },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: [...external],
    plugins: withoutCore ? [core] : [],
    logLevel: 'silent',
  })
  return outputFiles.map(({ text }) => text).join('')
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`
}
