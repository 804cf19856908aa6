// Our reading of server-sent events, held against a parser that does nothing else.
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { payloadsOf, textOf } from '../../adapters/openai/payloads.ts'

const line = fc.oneof(
  fc.constantFrom(
    '',
    'data',
    'data:',
    'data: [DONE]',
    ': keep-alive',
    'event: error',
    'id: 1',
    'x',
  ),
  fc.string({ unit: 'grapheme' }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
)
const end = fc.constantFrom('\n', '\r\n', '\r')
const stream = fc
  .array(fc.tuple(line, end), { maxLength: 20 })
  .map((lines) => `:\n${lines.flat().join('')}\n\n`)
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 })

it('hears what eventsource-parser hears, whatever the stream and however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(stream, cuts, async (text, sizes) => {
      expect(await heard(text, sizes)).toEqual(told(text))
    }),
    { numRuns: 2000 },
  )
})

it('the last event counts even if nothing ends it', async () => {
  await fc.assert(
    fc.asyncProperty(stream, cuts, async (text, sizes) => {
      const rest = `${text}data: 7`
      expect(await heard(rest, sizes)).toEqual([...told(text), '7'])
    }),
  )
})

it('looks at each character once, however many pieces a line comes in', async () => {
  const long = `data: ${'x'.repeat(1_000_000)}`
  const split = vi.spyOn(String.prototype, 'split')
  try {
    expect(await heard(`${long}\n\n`, [1000])).toEqual([long.slice(6)])
    const seen = split.mock.contexts.map((text) => String(text).length)
    const sum = seen.reduce((one, other) => one + other, 0)
    expect(sum).toBeGreaterThanOrEqual(long.length)
    expect(sum).toBeLessThan(long.length + 10_000)
  } finally {
    split.mockRestore()
  }
})

/** Without events that have no data: there is nothing to read in them. */
function told(text: string): readonly string[] {
  const found: string[] = []
  const onEvent = ({ data, event }: { data: string; event?: string | undefined }) =>
    found.push(event === 'error' ? JSON.stringify({ error: data }) : data)
  const parser = createParser({ onEvent })
  parser.feed(text)
  return found
}

async function heard(text: string, sizes: readonly number[]): Promise<readonly string[]> {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  let n = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const size = sizes[n++ % sizes.length]!
      controller.enqueue(bytes.slice(at, (at += size)))
    },
  })
  const found: string[] = []
  for await (const one of payloadsOf(textOf(body, new AbortController().signal))) found.push(one)
  return found
}
