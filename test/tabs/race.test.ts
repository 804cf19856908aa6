import { expect, test } from 'vitest'
import { launch } from '../../scripts/places/launch.ts'
import { site, type Told } from './site.ts'

interface Checkpoint {
  readonly checkpoint: string
  readonly parent?: string
  readonly state: { readonly answer: string; readonly paidBy: string }
}

const ROUNDS = 50

for (const browserName of ['chromium', 'firefox'] as const) {
  test(`of two tabs of ${browserName} that answer one question at once, exactly one wins, ${ROUNDS} times`, async () => {
    await using page = await site('test/tabs/race.page.ts', (one, all) => {
      // A payment that is held up goes on when a refusal was heard, or when there are two of them.
      const isRefusal = one.what === 'answered' && 'code' in one
      const same = all.filter(({ what, thread }) => what === one.what && thread === one['thread'])
      return isRefusal || (one.what === 'pay' && same.length > 1)
        ? `pay.${String(one['thread'])}`
        : undefined
    })
    const browser = await launch(browserName)
    try {
      const tabs = [await browser.newPage(), await browser.newPage()]
      await Promise.all(tabs.map((tab, n) => tab.goto(page.url(n === 0 ? 'first' : 'second'))))
      for (const tab of ['first', 'second'])
        await page.heard((told) => told.what === 'finished' && told.tab === tab)
    } finally {
      await browser.close()
    }
    for (let round = 0; round < ROUNDS; round++) check(page.told, round)
  }, 400_000)
}

function check(told: readonly Told[], round: number): void {
  const mine = told.filter(({ thread }) => thread === String(round))
  const of = (what: string): readonly Told[] => mine.filter((one) => one.what === what)
  const [winner, ...others] = of('answered').filter(({ code }) => code === undefined)
  expect(others, `winners of round ${round}`).toEqual([])
  const loser = of('answered').find((one) => one !== winner)!
  expect(loser['kinds']).toEqual([])
  // While the payment is held up, the question is answered and the thread is taken; later it is over.
  const codes = round % 2 === 0 ? ['resume_conflict'] : ['resume_conflict', 'nothing_to_resume']
  expect(codes).toContain(loser['code'])
  if (loser['code'] === 'nothing_to_resume')
    expect(mine.indexOf(of('pay')[0]!)).toBeLessThan(mine.indexOf(loser))

  expect(of('gate').map(({ tab }) => tab)).toEqual(['first', winner!.tab])
  expect(of('pay').map(({ tab }) => tab)).toEqual([winner!.tab])
  const [stored] = of('stored')
  expect(stored!['late']).toEqual({ kinds: [], code: 'nothing_to_resume' })
  expect(stored!['question']).toMatchObject({ status: 'answered', answer: winner!.tab })
  const line = stored!['line'] as readonly Checkpoint[]
  expect(line[0]!.state).toEqual({ answer: winner!.tab, paidBy: winner!.tab })
  expect(line.map(({ parent }) => parent)).toEqual([
    ...line.slice(1).map(({ checkpoint }) => checkpoint),
    undefined,
  ])
  expect((stored!['kinds'] as string[]).filter((kind) => kind === 'done')).toHaveLength(1)
}
