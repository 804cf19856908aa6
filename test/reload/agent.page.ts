import { indexedDb } from 'heddle/indexeddb'
import { visit } from './agent.ts'

// A visit, then a reload, as long as there is something to do.
const tell = async (what: object): Promise<void> =>
  void (await fetch('/told', { method: 'POST', body: JSON.stringify(what) }))
const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
const lines: string[] = []
try {
  const more = await visit(indexedDb({ name: 'story' }), (line) => void lines.push(line))
  await tell({ lines, by: entry?.type, more })
  if (more) location.reload()
} catch (error) {
  await tell({ lines, error: String(error), more: false })
}
