import { expect, test } from 'vitest'
import { launch } from '../../scripts/places/launch.ts'
import { site, type Told } from './site.ts'

for (const browserName of ['chromium', 'firefox'] as const) {
  test(`another tab of ${browserName} sees what an agent seems to be doing, while it listens`, async () => {
    await using page = await site('test/tabs/presence.page.ts')
    const browser = await launch(browserName)
    try {
      const tabs = [await browser.newPage(), await browser.newPage()]
      await tabs[0]!.goto(page.url('viewer'))
      await page.heard(({ what }) => what === 'watching')
      await tabs[1]!.goto(page.url('worker'))
      page.open('watching')
      await page.heard(isState('t1', 'waiting_input'))

      page.open('leave')
      await page.heard(({ what }) => what === 'away')
      page.open('away')
      await page.heard(({ what }) => what === 'unheard')
      page.open('return')
      await page.heard(({ what }) => what === 'back')
      page.open('back')
      await page.heard(isState('t1', 'idle'))

      page.open('stop')
      await page.heard(({ what }) => what === 'stopped')
      page.open('stopped')
      const unheard = (): number => page.told.filter(({ what }) => what === 'unheard').length
      await page.heard(() => unheard() === 2)
    } finally {
      await browser.close()
    }
    const seen = page.told.filter(({ what }) => what === 'presence')
    expect(seen.map((told) => `${ofWhom(told).thread} ${String(told['state'])}`)).toEqual([
      't1 thinking',
      't1 waiting_input',
      't1 thinking',
      't1 idle',
    ])
    const runs = seen.map((told) => ofWhom(told).run)
    expect([new Set(runs).size, runs[0] === runs[1], runs[2] === runs[3]]).toEqual([2, true, true])
    expect(ofWhom(seen[0]!)).toEqual({
      run: expect.stringMatching(/^run_/),
      thread: 't1',
      agent: 'asks',
    })
  }, 200_000)
}

const ofWhom = (told: Told) => told['of'] as { run: string; thread: string; agent: string }

const isState =
  (thread: string, state: string) =>
  (told: Told): boolean =>
    told.what === 'presence' && ofWhom(told).thread === thread && told['state'] === state
