// A thread as a value: it goes on in another store as it would have in its own.
import { compile, memory } from 'heddle'
import { expect, it } from 'vitest'
import { keepBooks, rowsOf } from './harness.ts'
import { ended, seen, voyage, type Calls } from './transfer-parts.ts'

keepBooks()

it('goes on elsewhere', async () => {
  const [calls, again]: Calls[] = [{}, {}]
  const here = compile(voyage(calls))
  await here.run({ thread: 't', input: {}, metadata: { a: 1 }, user: 'ann' })
  const value = JSON.parse(JSON.stringify(await here.exportThread('t')))
  const store = memory()
  const there = compile(voyage(again), { store })
  const thread = await there.importThread(value)
  expect(thread).toMatchObject({
    id: 't',
    graph: 'voyage',
    status: 'interrupted',
    metadata: { a: 1 },
  })
  expect(await seen(there, 't')).toEqual(await seen(here, 't'))
  expect(await ended(there, 't')).toEqual(await ended(here, 't'))
  await there.delete('t')
  expect(await rowsOf(store)).toEqual([])
})
