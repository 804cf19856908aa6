import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileStore } from '../../examples/file-store.ts'
import { isHeddleError, type Store } from 'heddle'
import { storeContract } from 'heddle/testing'

const room = mkdtempSync(join(tmpdir(), 'heddle-store-'))
afterAll(() => rmSync(room, { recursive: true, force: true }))

let files = 0
const newFile = (): string => join(room, `${++files}.log`)

describe('fileStore', () => {
  it('gives back after reopening what it was given, with the same revisions and in order', async () => {
    const file = newFile()
    const before = await fileStore(file)
    await before.commit({
      puts: [
        { key: 'a/2', value: 'zwei ✂️\n' },
        { key: 'a/1', value: '' },
        { key: 'b/1', value: 'x' },
      ],
    })
    await before.commit({ puts: [{ key: 'a/1', value: '\u{1F600}' }], deletes: ['b/1'] })
    const rows = await before.list({ prefix: 'a/', limit: 10 })
    await before.close?.()
    await withStore(fileStore(file), async (store) => {
      expect(await store.list({ prefix: 'a/', limit: 10 })).toEqual(rows)
      expect(rows.map(({ key, value }) => [key, value])).toEqual([
        ['a/1', '\u{1F600}'],
        ['a/2', 'zwei ✂️\n'],
      ])
      expect(await store.get(['b/1', 'a/2'])).toEqual([undefined, rows[1]])
    })
  })

  it('cuts off a last line that was not finished, at whatever byte it was torn', async () => {
    const file = newFile()
    await withStore(
      fileStore(file),
      async (store) => void (await store.commit({ puts: [{ key: 'a/1', value: 'one' }] })),
    )
    const whole = readFileSync(file)
    await withStore(
      fileStore(file),
      async (store) =>
        void (await store.commit({
          puts: [
            { key: 'a/2', value: 'twö' },
            { key: 'a/3', value: 'three' },
          ],
        })),
    )
    const both = readFileSync(file)
    for (let length = whole.length; length < both.length; length++) {
      writeFileSync(file, both.subarray(0, length))
      await withStore(fileStore(file), async (store) =>
        expect((await store.list({ prefix: 'a/', limit: 9 })).map((row) => row.value)).toEqual([
          'one',
        ]),
      )
      expect(readFileSync(file)).toEqual(whole)
    }
  })

  it('never gives a revision to two commits, also when one of them was torn off', async () => {
    const file = newFile()
    const seen: unknown[] = []
    for (let round = 0; round < 5; round++) {
      await withStore(
        fileStore(file),
        async (store) => void seen.push(await store.commit({ puts: [{ key: 'a/1', value: 'x' }] })),
      )
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.subarray(0, bytes.length - 3))
    }
    expect(new Set(seen).size).toBe(5)
  })

  it('refuses a file that is damaged in the middle instead of dropping what follows', async () => {
    const file = newFile()
    await withStore(fileStore(file), async (store) => {
      await store.commit({ puts: [{ key: 'a/1', value: 'one' }] })
      await store.commit({ puts: [{ key: 'a/2', value: 'two' }] })
    })
    const bytes = readFileSync(file)
    bytes[20]! ^= 1
    writeFileSync(file, bytes)
    await expect(fileStore(file)).rejects.toSatisfy((error) =>
      isHeddleError(error, 'corrupt_checkpoint'),
    )
    await expect(fileStore(file), 'the lock was given back').rejects.toSatisfy((error) =>
      isHeddleError(error, 'corrupt_checkpoint'),
    )
    expect(readFileSync(file)).toEqual(bytes)
  })

  it('keeps to the size of what it holds when the same rows are written over and over', async () => {
    const file = newFile()
    await withStore(fileStore(file, { compactAt: 10_000 }), async (store) => {
      for (let n = 0; n < 500; n++)
        await store.commit({ puts: [{ key: 'a/1', value: 'x'.repeat(100) + n }] })
    })
    expect(statSync(file).size).toBeLessThan(10_000)
    await withStore(fileStore(file), async (store) =>
      expect((await store.get(['a/1']))[0]?.value).toMatch(/499$/),
    )
  })

  it('forgets expired rows when it is opened, and keeps the others', async () => {
    const file = newFile()
    await withStore(fileStore(file), async (store) => {
      await store.commit({
        puts: [
          { key: 'a/1', value: 'x', expires: Date.now() - 1 },
          { key: 'a/2', value: 'y', expires: Date.now() + 60_000 },
          { key: 'a/3', value: 'z' },
        ],
      })
    })
    await withStore(fileStore(file), async (store) =>
      expect((await store.list({ prefix: 'a/', limit: 9 })).map(({ key }) => key)).toEqual([
        'a/2',
        'a/3',
      ]),
    )
  })

  it('is for one at a time: a second one is refused until the first closes', async () => {
    const file = newFile()
    const first = await fileStore(file)
    await expect(fileStore(file)).rejects.toSatisfy((error) =>
      isHeddleError(error, 'storage_blocked'),
    )
    await first.close?.()
    await withStore(fileStore(file), async (store) =>
      expect(await store.get(['a/1'])).toEqual([undefined]),
    )
  })

  it('lets at most one of many that come at once in, and one of them soon after', async () => {
    const file = newFile()
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => fileStore(file)))
    const open = tries.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(open.length).toBeLessThanOrEqual(1)
    for (const store of open) await store.close?.()
    await (await fileStore(file)).close?.()
    expect(readdirSync(room).filter((name) => name.includes('.lock.'))).toEqual([])
  })

  it('takes the lock of a process that is gone, also when its number has been given to another', async () => {
    const file = newFile()
    writeFileSync(`${file}.lock.4194304.1.00000000`, '')
    if (process.platform === 'linux') writeFileSync(`${file}.lock.${process.pid}.1.00000000`, '')
    await (await fileStore(file)).close?.()
    expect(readdirSync(room).filter((name) => name.includes('.lock.'))).toEqual([])
  })

  it('ignores a new file that a compaction did not finish', async () => {
    const file = newFile()
    await withStore(
      fileStore(file),
      async (store) => void (await store.commit({ puts: [{ key: 'a/1', value: 'one' }] })),
    )
    appendFileSync(`${file}.new`, 'half a')
    await withStore(fileStore(file, { compactAt: 1 }), async (store) => {
      await store.commit({ puts: [{ key: 'a/2', value: 'x'.repeat(1000) }] })
      expect((await store.list({ prefix: 'a/', limit: 9 })).map(({ key }) => key)).toEqual([
        'a/1',
        'a/2',
      ])
    })
    await withStore(fileStore(file), async (store) =>
      expect((await store.list({ prefix: 'a/', limit: 9 })).length).toBe(2),
    )
  })
})

describe('fileStore as a Store', () => {
  for (const { name, run } of storeContract({
    create: () => fileStore(newFile(), { compactAt: 4_000 }),
    destroy: async (store) => store.close?.(),
  }))
    it(name, run)
})

describe('fileStore under kill -9', () => {
  const program = join(room, 'commit-loop.mjs')
  beforeAll(() =>
    build({
      entryPoints: [join(import.meta.dirname, 'programs/commit-loop.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
    }),
  )

  it(
    'has every acknowledged commit, none by half, and no revision twice',
    { timeout: 60_000 },
    async () => {
      const file = newFile()
      const revisions = new Set<string>()
      let acknowledged = 0
      for (let round = 0; round < 10; round++) {
        const lines = await killAfter(
          program,
          [file, String(acknowledged + 1)],
          5 + Math.random() * 200,
        )
        for (const [n, revision] of lines) {
          expect(revisions.has(revision!), `revision ${revision} came twice`).toBe(false)
          revisions.add(revision!)
          acknowledged = Number(n)
        }
        await withStore(fileStore(file), async (store) => {
          const left = await store.list({ prefix: 'left/', limit: 1000 })
          const right = await store.list({ prefix: 'right/', limit: 1000 })
          expect(left.map(({ value, revision }) => [value, revision])).toEqual(
            right.map(({ value, revision }) => [value, revision]),
          )
          const numbers = left.map(({ value }) => JSON.parse(value).n as number)
          const newest = numbers.at(-1)!
          expect([acknowledged, acknowledged + 1]).toContain(newest) // one may have landed without its word getting out
          expect(numbers).toEqual(
            Array.from({ length: numbers.length }, (_, at) => newest - numbers.length + 1 + at),
          )
          expect(numbers.length).toBe(Math.min(newest, 40))
          acknowledged = newest
        })
      }
      expect(acknowledged).toBeGreaterThan(100)
    },
  )
})

/** Starts a program, kills it some time after its first line, and returns the lines it got out. */
async function killAfter(
  program: string,
  args: readonly string[],
  ms: number,
): Promise<readonly string[][]> {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (bytes) => (text += bytes))
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  setTimeout(() => child.kill('SIGKILL'), ms)
  const [, signal] = await closed
  expect(signal).toBe('SIGKILL')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
}

async function withStore(
  opening: Promise<Store>,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await opening
  try {
    await work(store)
  } finally {
    await store.close?.()
  }
}
