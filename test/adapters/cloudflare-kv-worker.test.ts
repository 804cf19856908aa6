import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { expect, test } from 'vitest'

test('a Worker without compatibility flags stores in KV, and its next request reads it', async () => {
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: await bundle(WORKER) }],
    compatibilityDate: '2026-04-01',
    compatibilityFlags: [],
    kvNamespaces: ['KV'],
    cf: false,
  })
  try {
    const answers = []
    for (let n = 0; n < 3; n++)
      answers.push(await (await worker.dispatchFetch('http://localhost/')).json())
    expect(answers).toEqual([
      { node: false, head: null },
      { node: false, head: '1' },
      { node: false, head: '2' },
    ])
  } finally {
    await worker.dispose()
  }
})

/** Adds one to a head, and tells what it was and whether Node's modules can be had. */
const WORKER = `
  import { cloudflareKv } from './adapters/cloudflare-kv.ts'
  export default {
    async fetch(_, env) {
      const node = await import('node:fs').then(() => true, () => false)
      const store = cloudflareKv(env.KV, { singleWriter: true })
      const [head] = await store.get(['h/t'])
      const puts = [{ key: 'h/t', value: String(Number(head?.value ?? 0) + 1) }, { key: 't/1', value: 'row' }]
      await store.commit({ checks: [{ key: 'h/t', revision: head?.revision }], puts })
      return Response.json({ node, head: head?.value ?? null })
    },
  }`

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    format: 'esm',
    write: false,
    external: ['node:*'],
  })
  return outputFiles[0]!.text
}
