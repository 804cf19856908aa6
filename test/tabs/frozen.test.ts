import { expect, test } from 'vitest'
import { launch } from '../../scripts/places/launch.ts'
import { site } from './site.ts'

test('a frozen tab loses its thread when its lease ends, hears so on its next write, and changes nothing', async () => {
  await using page = await site('test/tabs/frozen.page.ts')
  const told = (tab: string, what: string) =>
    page.heard((one) => one.tab === tab && one.what === what)
  const browser = await launch('chromium')
  try {
    const [first, second] = [await browser.newPage(), await browser.newPage()]
    const devtools = await first.createCDPSession()
    const turn = (state: 'active' | 'frozen') =>
      devtools.send('Page.setWebLifecycleState', { state })
    await first.goto(page.url('first'))
    await second.goto(page.url('second'))
    await told('first', 'write')
    // Frozen within a transaction it would hold up all others. Browsers freeze no such tab, but here we do.
    do {
      await turn('active')
      await turn('frozen')
    } while (!(await second.evaluate(isFree)))
    page.open('frozen')
    expect(await told('second', 'took over')).toMatchObject({ status: 'success' })
    const before = await told('second', 'before')
    expect(before['line']).toMatchObject([
      { state: { by: 'second', closedBy: 'second' } },
      { state: { by: 'second', closedBy: '' } },
      { state: { by: '', closedBy: '' } },
      { state: { by: '', closedBy: '' } },
    ])
    // What its node waits for has come, but nothing moves in a frozen tab.
    page.open('thawed')
    expect(page.told.filter(({ tab }) => tab === 'first')).toHaveLength(1)
    await turn('active')
    expect(await told('first', 'ended')).toMatchObject({
      kinds: ['node_start'],
      code: 'lease_lost',
    })
    const { line, runs, status } = await told('first', 'after')
    expect({ line, runs, status }).toEqual({
      line: before['line'],
      runs: before['runs'],
      status: 'success',
    })
    // Both were at the same task: its id is the idempotency key of what it does outside.
    const tasks = page.told.filter(({ what }) => what === 'write').map(({ task }) => task)
    expect(tasks).toEqual([tasks[0], tasks[0]])
  } finally {
    await browser.close()
  }
}, 400_000)

/** Whether a page can write to the database, tried for two seconds. */
function isFree(): Promise<boolean> {
  return new Promise((resolve) => {
    setTimeout(resolve, 2000, false)
    const opening = indexedDB.open('frozen')
    opening.addEventListener('success', () => {
      const tx = opening.result.transaction('rows', 'readwrite')
      tx.objectStore('rows').get('')
      tx.addEventListener('complete', () => {
        opening.result.close()
        resolve(true)
      })
    })
  })
}
