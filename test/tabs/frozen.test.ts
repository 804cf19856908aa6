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
    await first.goto(page.url('first'))
    await second.goto(page.url('second'))
    await told('first', 'write')
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' })
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
    await devtools.send('Page.setWebLifecycleState', { state: 'active' })
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
}, 120_000)
