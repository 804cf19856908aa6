// A schema that breaks on an answer, instead of refusing it: the run fails with what it threw, and the question stays open.
import { field, graph } from 'heddle'
import { expect } from 'vitest'
import type { Schema } from '../../src/schema.ts'
import { everyWay, failure, keepBooks, type Open } from './harness.ts'

keepBooks()

const BROKEN = new Error('The table of answers is gone')

/** Takes every answer but "break", on which it breaks. */
const schema = (late: boolean): Schema<string> => ({
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      if (value !== 'break') return { value: value as string }
      if (late) return Promise.reject(BROKEN)
      throw BROKEN
    },
  },
})

for (const [how, late] of [
  ['throws', false],
  ['rejects', true],
] as const) {
  everyWay(`a schema that ${how} consumes no answer`, async (open: Open) => {
    const story = open(() =>
      graph({
        name: 'strict',
        state: { got: field('') },
        nodes: {
          async ask(_, ctx) {
            // Nothing that the node catches: it was not its doing.
            return { got: await ctx.interrupt('Which?', { schema: schema(late) }).catch(() => '?') }
          },
        },
        edges: { start: 'ask', ask: 'end' },
      }),
    )
    await story.start()
    const [asked] = await story.open()
    expect(await failure(story.answerOne('break'))).toBe(BROKEN)
    expect((await story.snapshot()).status).toBe('interrupted')
    expect((await story.open()).map(({ id }) => id)).toEqual([asked?.id])
    expect((await story.answerOne('fine')).state).toEqual({ got: 'fine' })
  })
}
