import { afterEach, expect, test } from 'vitest'
import { killedPage, type KilledPage } from './chromium.ts'
import { cutOff, damage, logsIn } from './log.ts'

let page: KilledPage | undefined

afterEach(async () => {
  await page?.close()
  page = undefined
})

interface Read {
  readonly rows: readonly string[]
  readonly events: readonly string[]
}

/** Writes until so many commits were told, and dies. */
function write(to: KilledPage, last: number): Promise<readonly unknown[]> {
  return to.visit('write', (n) => n === last || typeof n !== 'number')
}

/** What lies in the database now. Fails if a batch is torn. */
async function read(from: KilledPage): Promise<Read> {
  const [found] = (await from.visit('read')) as [Read]
  const heads = found.rows.filter((row) => row.startsWith('h/'))
  expect(found.rows.filter((row) => row.startsWith('t/'))).toEqual(
    heads.map((row) => row.replace('h/', 't/')),
  )
  return found
}

test('what a durable commit wrote is there after kill -9, and no batch is torn', async () => {
  page = await killedPage('test/kill/rows.page.ts')
  for (const last of [10, 60]) {
    const committed = await write(page, last)
    expect(committed.at(-1)).toBe(last)
    const { rows, events } = await read(page)
    expect(events).toEqual([])
    for (const n of committed) expect(rows).toContain(`h/${n} ${n} 5000`)
  }
}, 240_000)

test('what kill -9 cuts off is lost alone, however often Chromium comes back', async () => {
  page = await killedPage('test/kill/rows.page.ts')
  const committed = [...(await write(page, 10))]
  cutOff(logsIn(page.profile).at(-1)!)
  const { rows } = await read(page)
  committed.push(...(await write(page, rows.length / 2 + 10)))
  for (let visit = 0; visit < 2; visit++) {
    const found = await read(page)
    expect(found.events).toEqual([])
    for (const n of committed) expect(found.rows).toContain(`h/${String(n)} ${String(n)} 5000`)
  }
}, 240_000)

test('what Chromium had to throw away is told as a reset', async () => {
  page = await killedPage('test/kill/rows.page.ts')
  await write(page, 10)
  damage(logsIn(page.profile).at(-1)!)
  expect(await read(page)).toEqual({ rows: [], events: ['reset'] })
  expect(await read(page)).toEqual({ rows: [], events: [] })
}, 240_000)

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
}, 240_000)
