import { append, compile, each, encrypted, field, graph, reduced } from 'heddle'
import { denoKv, type DenoKv } from 'heddle/deno-kv'
import type { Key, Store } from '../../src/store/store.ts'
import type { Case } from '../runtime/report.ts'
import { newKey } from '../store/encrypted.tools.ts'

const { Deno } = globalThis as unknown as {
  readonly Deno: { openKv(path: string): Promise<DenoKv & { close(): void }> }
}

const HEAD = 'h/acme.t1'
const rows = (count: number): Key[] =>
  Array.from({ length: count }, (_, n) => `t/acme.t1/${String(n).padStart(5, '0')}`)
const puts = (keys: readonly Key[]) => keys.map((key) => ({ key, value: '1' }))

/** One step leaves a long value, the next one much of many tasks at once; then a question. */
const much = graph({
  name: 'much',
  state: { text: field(''), list: reduced(field<string[]>([]), append) },
  nodes: {
    long: () => ({ text: '漢'.repeat(300_000) }),
    one: {
      item: field<number>(),
      run: (_, { item }) => ({ list: [`${item}`.padStart(5000, '.')] }),
    },
    ask: async (_, ctx) => ({ list: [String(await ctx.interrupt('go on?'))] }),
  },
  edges: {
    start: 'long',
    long: () =>
      each(
        'one',
        Array.from({ length: 400 }, (_, n) => n),
      ),
    one: 'ask',
    ask: 'end',
  },
})

const cases: Readonly<Record<string, (kv: DenoKv, store: Store) => Promise<void>>> = {
  async 'the largest commit fits under the longest prefix'(kv) {
    // Deno KV writes this character as two bytes.
    const store = denoKv(kv, { prefix: '\0'.repeat(50) })
    const { maxBatchRows, maxBatchBytes } = store.caps
    const value = 'x'.repeat(Math.floor(maxBatchBytes / maxBatchRows))
    const keys = rows(maxBatchRows).map((key) => key.padEnd(256, 'x'))
    must(await store.commit({ puts: keys.map((key) => ({ key, value })) }), 'it is written')
    must(await store.commit({ deletes: keys }), 'and removed')
  },

  async 'a prefix that is too long is refused'(kv) {
    let refused: unknown
    try {
      denoKv(kv, { prefix: '漢'.repeat(17) })
    } catch (error) {
      refused = error
    }
    must(refused instanceof RangeError, `a RangeError, not ${String(refused)}`)
  },

  async 'stores under prefixes that begin alike share a database and nothing else'(kv, store) {
    const others = ['', 'heddl', 'heddle\0', 'heddle/', 'heddlf'].map((prefix) =>
      denoKv(kv, { prefix }),
    )
    for (const [n, one] of others.entries())
      await one.commit({ puts: [{ key: HEAD, value: `${n}` }] })
    same(await store.list({ prefix: '', limit: 9 }), [], 'rows of the others')
    await store.clear('')
    for (const [n, one] of others.entries())
      same(
        (await one.list({ prefix: '', limit: 9 })).map(({ value }) => value),
        [`${n}`],
        'own rows',
      )
  },

  async 'more rows than Deno KV takes at once are cleared'(_, store) {
    const keys = rows(2100)
    for (let at = 0; at < keys.length; at += 100)
      await store.commit({ puts: puts(keys.slice(at, at + 100)) })
    await store.commit({ puts: puts([HEAD]) })
    same((await store.list({ prefix: 't/', limit: Infinity })).length, 2100, 'rows before')
    await store.clear('t/acme.t1/')
    same(
      (await store.list({ prefix: '', limit: 9 })).map(({ key }) => key),
      [HEAD],
      'rows after',
    )
  },

  async 'a value longer than Deno KV takes and the results of many tasks are kept, sealed too'(kv) {
    const key = await newKey()
    for (const store of [denoKv(kv), encrypted(denoKv(kv, { prefix: 'sealed' }), { key })]) {
      const again = () => compile(much, { store, stepLimit: 10 })
      same((await again().run({ thread: 't', input: {} })).status, 'interrupted', 'the pause')
      const { state } = await again().run({ thread: 't', answer: 'yes' })
      same(state.text === '漢'.repeat(300_000), true, 'the long value')
      same(state.list.length, 401, 'results')
      same([state.list[7], state.list[400]], ['7'.padStart(5000, '.'), 'yes'], 'two of them')
      await again().delete('t')
      same(await store.list({ prefix: '', limit: 9 }), [], 'rows that are left')
    }
  },

  async 'a text that is no versionstamp fails a check, beside one that holds too'(_, store) {
    const revision = await store.commit({ puts: puts([HEAD]) })
    for (const foreign of [
      '',
      'foreign',
      '漢\u0000',
      `${revision}0`,
      revision!.toUpperCase() + ' ',
    ]) {
      const checks = [HEAD, HEAD].map((key, n) => ({ key, revision: n ? foreign : revision }))
      same(await store.commit({ checks, deletes: [HEAD] }), undefined, `a check for "${foreign}"`)
    }
    must((await store.get([HEAD]))[0], 'the row is there')
  },

  async 'a watch tells of a change until it is stopped'(_, store) {
    let told = 0
    let heard = (): void => {}
    const next = (): Promise<void> => new Promise((resolve) => (heard = resolve))
    const first = next()
    const stop = store.watch!(HEAD, () => {
      told++
      heard()
    })
    await first
    const second = next()
    await store.commit({ puts: puts([HEAD]) })
    await second
    stop()
    stop()
    const before = told
    // A watch of the same row that goes on has heard of it: so would the other have.
    const third = next()
    const other = store.watch!(HEAD, () => heard())
    await third
    const fourth = next()
    await store.commit({ puts: puts([HEAD]) })
    await fourth
    other()
    same(told, before, 'calls after the stop')
  },

  async 'close ends watches, and leaves the database to others'(kv, store) {
    let told = 0
    const first = new Promise<void>((resolve) => {
      store.watch!(HEAD, () => {
        told++
        resolve()
      })
    })
    await first
    await store.close!()
    const before = told
    const other = denoKv(kv)
    const heard = new Promise<void>((resolve) => {
      const stop = other.watch!(
        HEAD,
        () => void other.get([HEAD]).then(([row]) => row && (stop(), resolve())),
      )
    })
    must(await other.commit({ puts: puts([HEAD]) }), 'the database takes commits')
    await heard
    same(told, before, 'calls after the close')
  },

  async 'a watch of a database that is closed ends quietly'(kv, store) {
    const told = new Promise<void>((resolve) => void store.watch!(HEAD, resolve))
    await told
    ;(kv as DenoKv & { close(): void }).close()
    await store.close!()
  },
}

/** What Deno KV asks of its store beside the contract. A watch that goes on keeps Deno alive, and fails the run. */
export const suite: readonly Case[] = Object.entries(cases).map(([name, check]) => ({
  name,
  async run() {
    const kv = await Deno.openKv(':memory:')
    try {
      await check(kv, denoKv(kv))
    } finally {
      if (!name.includes('that is closed')) kv.close()
    }
  },
}))

function must(claim: unknown, what: string): void {
  if (claim === undefined || claim === false) throw new Error(`expected: ${what}`)
}

function same(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [actual, expected].map((value) => JSON.stringify(value))
  if (got !== wanted) throw new Error(`${what}: expected ${wanted}, got ${got}`)
}
