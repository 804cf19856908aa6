// B18: what is stored and can't be read is told, by thread and checkpoint; it never restarts a thread or empties a field.
import { compile, memory } from 'heddle'
import { expect, test } from 'vitest'
import { all, failure, keepBooks } from './harness.ts'
import { rowsOf } from './portable.ts'
import {
  broken,
  calls,
  copyOf,
  goesOn,
  kindOf,
  looks,
  mine,
  story,
  told,
} from './refusals-damage.ts'
import { silent } from '../fakes/silent.ts'

keepBooks()

test('a broken row is told as CorruptCheckpoint or does no harm, whatever is broken about it', async () => {
  const store = memory()
  await told(store)
  const rows = await rowsOf(store)
  const sound = await looks(store)
  const end = await goesOn(rows)
  expect(end).toMatchObject({
    calls: ['ask', 'last', 'side'],
    state: { got: ['kept', 'late', [2n]] },
  })
  const kinds = new Set<string>()
  let harmed = 0
  for (const [key, text] of [...rows].filter(mine)) {
    for (const [how, changed] of [...broken(text), ['it is gone', undefined] as const]) {
      if (changed === text) continue
      const damaged = new Map(rows)
      if (changed === undefined) damaged.delete(key)
      else damaged.set(key, changed)
      const what = `${key}: ${how}`
      for (const [look, seen] of Object.entries(await looks(await copyOf(damaged)))) {
        expect(seen, `${what}, ${look}`).not.toHaveProperty('error')
        if ('corrupt' in (seen as object)) {
          kinds.add(kindOf(key))
          harmed++
          expect(seen, `${what}, ${look}`).toEqual({ corrupt: 't' })
        }
      }
      const went = (await goesOn(damaged)) as {
        error?: { code?: string }
        corrupt?: string
      }
      if ('corrupt' in went) kinds.add(kindOf(key))
      if (went.error) {
        expect(how, `${what}: ${String(went.error)}`).toBe('it is gone')
        expect(['h/', 'nothing_to_resume'], what).toEqual([key.slice(0, 2), went.error.code])
      }
    }
  }
  expect([...kinds].sort(), 'kinds of rows that were found broken').toEqual([
    'h',
    't/c',
    't/i',
    't/r',
    't/s',
    't/w',
  ])
  expect(harmed).toBeGreaterThan(300)
  expect(Object.keys(sound)).toHaveLength(7)
})

test('any character that changes is found, and what is found is what was stored', async () => {
  const store = memory()
  await told(store)
  const rows = await rowsOf(store)
  const sound = await looks(store)
  const end = await goesOn(rows)
  expect(end).toMatchObject({ state: { got: ['kept', 'late', [2n]] } })
  for (const [key, text] of [...rows].filter(mine)) {
    for (let at = 0; at < text.length; at += 1 + Math.floor(text.length / 60)) {
      const unit = String.fromCharCode(text.charCodeAt(at) ^ (1 << (at % 7)))
      const damaged = new Map(rows).set(key, text.slice(0, at) + unit + text.slice(at + 1))
      const what = `${key} at ${at}`
      for (const [look, seen] of Object.entries(await looks(await copyOf(damaged)))) {
        if (look === 'inbox' || look === 'threads') expect(seen, what).toHaveProperty('value')
        else if (!('corrupt' in (seen as object)))
          expect(seen, `${what}, ${look}`).toEqual(sound[look])
        else expect(seen, `${what}, ${look}`).toEqual({ corrupt: 't' })
      }
      const went = await goesOn(damaged)
      if (!('corrupt' in (went as object))) expect(went, what).toEqual(end)
    }
  }
})

test('a broken checkpoint is named, and those beside it can be read', async () => {
  const store = memory()
  await told(store)
  const app = compile(story, { store, logger: silent })
  const history = await all(app.history('t'))
  expect(history.length).toBe(2)
  const [newest, oldest] = history as [(typeof history)[0], (typeof history)[0]]
  const rows = await rowsOf(store, ['t/'])
  // Newest first.
  const row = [...rows].find(([key]) => /^t.~e\.t\..*.c.-./.test(key))!
  await store.commit({ puts: [{ key: row[0], value: row[1].slice(0, 40) }] })
  const error = await failure(all(app.history('t')))
  expect(error).toMatchObject({
    code: 'corrupt_checkpoint',
    details: { thread: 't', checkpoint: newest.checkpoint },
  })
  expect(error.message).toBe(
    `Cannot read checkpoint "${newest.checkpoint}" of thread "t": its row is damaged`,
  )
  expect(await failure(app.state('t'))).toMatchObject({
    details: { checkpoint: newest.checkpoint },
  })
  expect(await app.state('t', { checkpoint: oldest.checkpoint })).toEqual(oldest)
  expect(await all(app.history('t', { before: newest.checkpoint }))).toEqual([oldest])
  for (const request of [{ answer: 1 }, { input: {} }, {}])
    expect(await failure(app.run({ thread: 't', ...request } as never))).toMatchObject({
      code: /corrupt_checkpoint|thread_paused|nothing_to_resume/,
    })
  // The thread can go on from what is left of it.
  calls.length = 0
  expect(await app.run({ thread: 't', from: oldest.checkpoint })).toMatchObject({
    status: 'interrupted',
  })
  expect(calls).toEqual(['first', 'ask', 'side', 'done'])
})
