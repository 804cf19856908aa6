import { Miniflare } from 'miniflare'
import type { Report } from '../../test/runtime/report.ts'
import { bundle } from './bundle.ts'

/** Runs in real workerd, without compatibility flags, on a KV namespace. */
export async function workerd(): Promise<Report> {
  const script = await bundle('test/runtime/workerd.ts', ['workerd', 'worker'])
  const miniflare = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: [],
    kvNamespaces: ['KV'],
    cf: false,
  })
  try {
    const response = await miniflare.dispatchFetch('http://localhost/')
    if (!response.ok) throw new Error(`workerd gave no report: ${await response.text()}`)
    return (await response.json()) as Report
  } finally {
    await miniflare.dispose()
  }
}
