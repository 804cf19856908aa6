// A5: what is refused is refused with a typed error, before any node runs, and not a row of the store has changed.
import { expect } from 'vitest'
import { eachWay, failure, keepBooks, type Open, type Story } from './harness.ts'
import { desk, refused, type Refused } from './refusals-table.ts'

keepBooks()

for (const [what, { asks, easy, request, code, details }] of Object.entries(refused)) {
  eachWay(`refuses ${what}`, async (open) => {
    const calls: string[] = []
    const story = await begun(open, calls, asks, easy)
    const questions = asks ? (await story.snapshot()).interruptions : []
    calls.length = 0
    const error = await story.refuses(
      typeof request === 'function' ? request(questions) : request,
      code,
    )
    if (details) expect(error).toMatchObject({ details })
    expect(error.message).toMatch(/^Cannot [a-z]+ .+: .+[^.]$/)
    expect(calls).toEqual([])
    expect(
      await failure(story.app.run({ thread: 't1', ...resolved(request, questions) } as never)),
    ).toMatchObject({ code })
    // The thread goes on as if nothing had been asked of it.
    if (asks?.includes('q') && asks.length === 1)
      expect(await story.answerOne('fine')).toMatchObject({
        status: 'success',
        state: { got: ['fine'] },
      })
  })
}

const resolved = (request: Refused['request'], open: readonly { readonly id: string }[]): object =>
  typeof request === 'function' ? request(open) : request

async function begun(
  open: Open,
  calls: string[],
  asks: Refused['asks'],
  easy?: true,
): Promise<Story> {
  const story = open(() => desk(calls, easy))
  if (asks) await story.start({ asks })
  return story
}
