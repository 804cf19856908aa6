import { afterEach, expect, test } from 'vitest'
import { killedPage, type KilledPage } from './chromium.ts'

let page: KilledPage | undefined

afterEach(async () => {
  await page?.close()
  page = undefined
})

test('what a durable commit wrote is there after kill -9, and no batch is torn', async () => {
  page = await killedPage('test/kill/rows.page.ts')
  for (const last of [10, 60]) {
    const committed = await page.visit('write', (n) => n === last || typeof n !== 'number')
    expect(committed.at(-1)).toBe(last)
    const [rows] = (await page.visit('read')) as [string[]]
    for (const n of committed) expect(rows).toContain(`h/${n} ${n} 5000`)
    const heads = rows.filter((row) => row.startsWith('h/'))
    expect(rows.filter((row) => row.startsWith('t/'))).toEqual(
      heads.map((row) => row.replace('h/', 't/')),
    )
  }
}, 120_000)

test('a step that was told is there after kill -9, and the run goes on to its end', async () => {
  page = await killedPage('test/kill/steps.page.ts')
  for (const last of [1, 17]) {
    const phase = last === 1 ? 'start' : 'go on'
    const steps = await page.visit(phase, (step) => typeof step !== 'number' || step >= last)
    expect(steps.every((step) => typeof step === 'number')).toBe(true)
    const told = Math.max(...(steps as number[]))
    const [stored] = (await page.visit('read')) as [{ n: number; seen: number[]; status: string }]
    expect(stored.n).toBeGreaterThanOrEqual(told)
    expect(stored.seen).toEqual(Array.from({ length: stored.n }, (_, n) => n))
    expect(stored.status).toBe('running')
  }
  const end = await page.visit('end', (step) => typeof step !== 'number')
  expect(end.at(-1)).toEqual({ n: 40, seen: Array.from({ length: 40 }, (_, n) => n) })
}, 120_000)
