// `encrypted` over the store of any place: what lies there tells nothing, and nothing that was changed is believed.
import { encrypted, memory } from 'heddle'
import {
  all,
  casesOf,
  equal,
  refusedWith,
  rowsOf,
  type Case,
  type Cases,
  type Open,
} from '../behaviours/portable.ts'
import { memoryStores } from '../runtime/memory-stores.ts'
import { tell } from '../runtime/story.ts'
import {
  apart,
  appOn,
  entryAt,
  flipped,
  looks,
  newKey,
  sealing,
  textsOf,
  told,
} from './encrypted.tools.ts'

const cases: Cases = {
  async 'no value can be read in the store, those of lists of threads and questions included'(
    reopen,
  ) {
    const raw = await reopen()
    await told(encrypted(raw, { key: await newKey() }))
    const rows = await rowsOf(raw)
    equal(
      [...new Set([...rows.keys()].map((key) => key[0]))].sort(),
      ['d', 'h', 'n', 'o', 't'],
      'kinds',
    )
    for (const [key, value] of rows) {
      const { id, bytes } = apart(value)
      equal(id, '1', `id of the key at ${key}`)
      const shown = value + String.fromCharCode(...bytes)
      for (const word of ['canary', btoa('canary'), 'secret', 'other', 'first'])
        equal(shown.includes(word), false, `${word} in the value of ${key}`)
    }
    const plain = memory()
    await told(plain)
    equal((await textsOf(plain)).includes('canary'), true, 'it is there without encryption')
  },

  async 'a thread that waits is read back, answered and ended, in a new process each time'(reopen) {
    const key = await newKey()
    const stores = [encrypted(memory(), { key }), encrypted(await reopen(), { key })]
    for (const store of stores) await told(store)
    const again = encrypted(await reopen(), { key })
    const [plain, there] = [await looks(stores[0]!), await looks(again)]
    equal(there['end'], plain['end'], 'the end')
    equal(there['end']!.includes('late'), true, 'the answer got there')
  },

  async 'the story is told as it is without encryption'(reopen) {
    const raw = await reopen()
    equal(await tell(sealing(() => raw)), await tell(memoryStores()), 'the story')
    equal([...(await rowsOf(raw))], [], 'rows that are left')
  },

  async 'the same text is never sealed alike'(reopen) {
    const raw = await reopen()
    const store = encrypted(raw, { key: await newKey() })
    const keys = Array.from({ length: 200 }, (_, n) => `t/a.b/${n}`)
    const ivs = new Set<string>()
    for (let n = 0; n < keys.length; n += 100)
      await store.commit({ puts: keys.slice(n, n + 100).map((key) => ({ key, value: 'same' })) })
    for (const value of (await rowsOf(raw)).values())
      ivs.add(String.fromCharCode(...apart(value).bytes.subarray(0, 12)))
    equal(ivs.size, keys.length, 'different IVs')
  },

  async 'keys change by id: old ones read, the new one seals'(reopen) {
    const [one, two] = [await newKey(), await newKey()]
    await told(encrypted(await reopen(), { key: one, id: '2025' }))
    const raw = await reopen()
    const store = encrypted(raw, { key: two, id: '2026', old: { '2025': one } })
    equal((await looks(store))['end']!.includes('late'), true, 'the answer got there')
    const head = await entryAt(raw, 'h/~e.t')
    equal(apart(head!.value).id, '2026', 'id of the key of the head')
    const lost = encrypted(raw, { key: two, id: '2026' })
    equal((await looks(lost))['state'], 'corrupt t', 'the state without the old key')
    const { message } = await refusedWith('corrupt_checkpoint', () => appOn(lost).state('other'))
    equal(message.includes('sealed with key "2025", which is not here'), true, message)
  },

  async 'with a wrong key a thread is damaged, never empty, and nothing of it changes'(reopen) {
    const key = await newKey()
    const raw = await reopen()
    await told(encrypted(raw, { key }))
    const rows = await textsOf(raw)
    const wrong = encrypted(raw, { key: await newKey() })
    const { end, ...reads } = await looks(wrong)
    equal(new Set([end, ...Object.values(reads)]), new Set(['corrupt t']), 'what comes of it')
    const app = appOn(wrong)
    for (const request of [{ input: {} }, {}, { answer: 1 }])
      await refusedWith('corrupt_checkpoint', () => app.run({ thread: 't', ...request }))
    await refusedWith('corrupt_checkpoint', () => app.cancel('t'))
    equal((await textsOf(raw)) === rows, true, 'no row has changed')
    equal(
      (await looks(encrypted(raw, { key })))['end']!.includes('late'),
      true,
      'with the right one',
    )
  },

  async 'a list tells what else there is beside threads that need a lost key'(reopen) {
    const [one, two] = [await newKey(), await newKey()]
    await appOn(encrypted(await reopen(), { key: one })).run({ thread: 'lost', input: {} })
    const store = encrypted(await reopen(), { key: two, id: '2' })
    await appOn(store).run({ thread: 't', input: {} })
    const app = appOn(store)
    equal(
      (await all(app.threads())).map(({ id }) => id),
      ['t'],
      'threads',
    )
    equal(
      (await app.interruptions()).map(({ thread }) => thread),
      ['t'],
      'the inbox',
    )
    const { woken } = await app.tick({ now: Date.parse('2999-01-02') })
    equal(woken, ['t'], 'what a tick wakes')
  },

  async 'a flipped bit, and the value of another row, are damage'(reopen) {
    const key = await newKey()
    await told(encrypted(await reopen(), { key }))
    const raw = await reopen()
    const store = encrypted(raw, { key })
    const [mine, other] = (await raw.get(['h/~e.t', 'h/~e.other'])).map((row) => row!.value)
    for (const value of [...[0, 12, 99, -17, -1].map((at) => flipped(mine!, at)), other!]) {
      await raw.commit({ puts: [{ key: 'h/~e.t', value }] })
      equal((await looks(store))['end'], 'corrupt t', 'what comes of it')
    }
    await raw.commit({ puts: [{ key: 'h/~e.t', value: mine! }] })
    equal((await looks(store))['end']!.includes('late'), true, 'the answer got there')
  },

  async 'get refuses a row that it can’t open, a list tells it when it is read'(reopen) {
    const raw = await reopen()
    const store = encrypted(raw, { key: await newKey() })
    const keys = ['t/a.b~0020c.id/1', 't/a.b~0020c.id/2']
    await store.commit({ puts: keys.map((key) => ({ key, value: 'text' })) })
    await raw.commit({ puts: [{ key: keys[0]!, value: 'text' }] })
    const { details } = await refusedWith('corrupt_checkpoint', () => store.get(keys))
    equal(details, { thread: 'b c', why: 'it is not sealed' }, 'details')
    const [bad, good] = await store.list({ prefix: 't/', limit: 9 })
    equal([bad!.key, good!.key, good!.value], [...keys, 'text'], 'what is listed')
    await refusedWith('corrupt_checkpoint', () => bad!.value)
    equal((await entryAt(store, keys[1]!))?.value, 'text', 'the other row')
  },

  async 'a long value of any characters comes back whole'(reopen) {
    const raw = await reopen()
    const store = encrypted(raw, { key: await newKey() })
    const most = Math.min(store.caps.maxValueBytes, store.caps.maxBatchBytes - 300, 3_000_000)
    for (const letter of ['x', '漢', '\u0000', '\uFEFF']) {
      const value = letter.repeat(Math.floor(most / new TextEncoder().encode(letter).length))
      await store.commit({ puts: [{ key: 't/a.b/1', value }] })
      equal((await entryAt(store, 't/a.b/1'))?.value === value, true, `many ${letter}`)
    }
  },

  async 'a key that has to be fetched is fetched once, when it is first needed'(reopen) {
    let asked = 0
    const real = await newKey()
    const raw = await reopen()
    const store = encrypted(raw, {
      key: async () => {
        if (++asked === 1) throw new Error('The vault is shut')
        return real
      },
    })
    equal(asked, 0, 'calls before the first need')
    const puts = ['t/a.b/1', 't/a.b/2'].map((key) => ({ key, value: key }))
    const error = await store.commit({ puts }).catch((reason: unknown) => String(reason))
    equal(error, 'Error: The vault is shut', 'the first commit')
    equal([...(await rowsOf(raw))], [], 'rows after it')
    await store.commit({ puts })
    await store.get(['t/a.b/1', 't/a.b/2'])
    equal(asked, 2, 'calls')
  },
}

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('encrypted', open, cases)
}
