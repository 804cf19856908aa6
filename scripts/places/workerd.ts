import { Miniflare } from 'miniflare'
import type { Report } from '../../test/runtime/report.ts'
import { merged } from '../../test/runtime/several.ts'
import { bundle } from './bundle.ts'

/** Runs in real workerd, without compatibility flags: on a KV namespace, in a Durable Object, on a D1 database. */
export async function workerd(): Promise<Report> {
  const script = await bundle('test/runtime/workerd.ts', ['workerd', 'worker'])
  const miniflare = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: [],
    kvNamespaces: ['KV'],
    d1Databases: ['DB'],
    durableObjects: { ROOM: { className: 'Room', useSQLite: true } },
    cf: false,
  })
  try {
    const reports: Report[] = []
    for (const store of ['kv', 'durable-object', 'd1']) {
      const response = await miniflare.dispatchFetch(`http://localhost/${store}`)
      if (!response.ok) throw new Error(`workerd gave no report: ${await response.text()}`)
      reports.push((await response.json()) as Report)
    }
    return merged(reports)
  } finally {
    await miniflare.dispose()
  }
}
