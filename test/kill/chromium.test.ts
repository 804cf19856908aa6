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
