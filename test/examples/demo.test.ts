import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fileLedger } from '../../examples/demo/ledger.ts'
import type { Entry } from '../../examples/demo/orders.ts'

const root = join(import.meta.dirname, '../..')
// Inside the repository, so that what is left outside of the bundle is found.
const program = join(root, `node_modules/.cache/heddle/demo-test-${process.pid}.mjs`)
const room = mkdtempSync(join(tmpdir(), 'heddle-demo-'))
const children = new Set<ChildProcessWithoutNullStreams>()

beforeAll(() =>
  build({
    entryPoints: [join(root, 'examples/demo/main.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: program,
    logLevel: 'warning',
  }),
)
afterEach(() => children.forEach((child) => child.kill('SIGKILL')))
afterAll(() => {
  rmSync(room, { recursive: true, force: true })
  rmSync(program, { force: true })
})

let rooms = 0
const newRoom = (): string => join(room, String(++rooms))

describe('the demo in a pipe', () => {
  it('understands what is piped in, takes the next lines as answers, waits for the bank, and pays', async () => {
    const dir = newRoom()
    const { output, status } = await demo(
      dir,
      ['--wait', '1'],
      'Hello! The lamp of order 1042 came broken.\nI want my money back.\nyes\n',
    )
    expect(output).toContain('a small NLU model')
    expect(output).toContain('understood: refund')
    expect(output).toMatch(/Approve: .*more than \$50\.00.*\[y\/n\] yes/)
    expect(output).toContain('the bank checks $59.90: 1 s')
    expect(output).toMatch(/Answer: \$59\.90 for order 1042 .* R-0001/)
    expect(status).toBe(0)
    expect(ledger(dir)).toMatchObject([{ kind: 'refund', order: '1042', amount: 59.9 }])
  })

  it('keeps a question that nobody answers, says how to go on, and goes on with the answer alone', async () => {
    const dir = newRoom()
    const first = await demo(dir, ['--wait', '0', 'I want my money back'])
    expect(first).toMatchObject({
      status: 0,
      output: expect.stringContaining('echo yes | npm run demo'),
    })
    const second = await demo(dir, ['--wait', '0'], '1042\n')
    expect(second.output).toContain('Going on where it stopped: "I want my money back"')
    expect(second.output).not.toContain('understood')
    expect(second.output).toContain('found: order 1042')
    const third = await demo(dir, ['--wait', '0'], 'y\n')
    expect(third.output).toMatch(/Answer: .*R-0001/)
    expect(third.output).not.toContain('found')
    expect(ledger(dir)).toHaveLength(1)
  })

  it('says at a second time that the money went back, and is not sure of what it does not understand', async () => {
    const dir = newRoom()
    for (const told of [/on the way back to you/, /went back already, receipt R-0001/]) {
      const { output, status } = await demo(dir, ['--wait', '0'], 'refund order 1042 please\nyes\n')
      expect({ output, status }).toEqual({ output: expect.stringMatching(told), status: 0 })
    }
    expect(ledger(dir)).toHaveLength(1)
    expect((await demo(dir, ['what is love'])).output).toContain('understood: other (not sure)')
  })

  it('asks before money goes back that was not clearly asked for', async () => {
    const dir = newRoom()
    const message = 'Can I get my money back for 1043?'
    const no = await demo(dir, ['--wait', '0'], `${message}\nno\n`)
    expect(no.output).toMatch(
      /Do you want your money back for order 1043 \(\$48\.00\)\? \[y\/n\] no/,
    )
    expect(no.output).toContain('Then I leave order 1043 as it is')
    expect(ledger(dir)).toEqual([])
    await demo(dir, ['--wait', '0'], `${message}\nyes\n`)
    expect(ledger(dir)).toMatchObject([{ kind: 'refund', order: '1043', amount: 48 }])
  })

  it('answers while the pipe stays open', async () => {
    const child = start(newRoom(), ['--wait', '0'])
    child.process.stdin.write('I need a refund please\n')
    await child.says('What is the number of the order?')
    child.process.stdin.write('78\n')
    await child.says('Answer: $34.50 for order 78')
    expect(await child.ended).toBe(0)
  })

  it('starts anew after the end, and with --new before it', async () => {
    const dir = newRoom()
    await demo(dir, ['where is order 1045?'])
    const second = await demo(dir, ['refund order 1042'])
    expect(second.output).not.toContain('Going on')
    const third = await demo(dir, ['--new', 'where is order 78?'])
    expect(third.output).toContain('is delivered')
    const listed = await demo(dir, ['--list'])
    expect(
      listed.output
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/)[2]),
    ).toEqual(['success', 'interrupted', 'success'])
    const waiting = listed.output.trim().split('\n')[1]!.split(' ')[0]!
    const last = await demo(dir, ['--thread', waiting], 'n\n')
    expect(last.output).toContain('does not send the money back')
    expect(ledger(dir)).toEqual([])
  })

  it.each([
    ['--nonsense', /Unknown option '--nonsense'/],
    ['--limit=much', /--limit takes a number, not "much"/],
    ['--thread=nobody', /There is no conversation nobody/],
  ])('says what is wrong with %s in a sentence', async (option, message) => {
    const { errors, status } = await demo(newRoom(), [option, 'refund order 78'])
    expect(errors).toMatch(message)
    expect(errors.trim().split('\n')).toHaveLength(1)
    expect(errors).not.toContain('positional')
    expect(errors).not.toMatch(/^\s+at /m)
    expect(status).toBe(1)
  })

  it('has nothing to do without a message, and says how to give one', async () => {
    const { output, status } = await demo(newRoom(), [])
    expect(output).toContain('Usage: npm run demo')
    expect(status).toBe(0)
  })

  it('leaves the directory to one at a time', async () => {
    const dir = newRoom()
    const first = start(dir, ['refund order 1042'])
    await first.says('[y/n]')
    const second = await demo(dir, ['where is order 78?'])
    expect(second).toMatchObject({
      status: 1,
      errors: expect.stringContaining('Another demo is at work in this directory'),
    })
    first.process.stdin.end('n\n')
    expect(await first.ended).toBe(0)
  })
})

describe('the demo, stopped', () => {
  it('dies with the npm that started it', async () => {
    const dir = newRoom()
    const command = `"${process.execPath}" "${program}" --dir "${dir}" --wait 30 refund order 78; true`
    const env = { ...process.env, npm_lifecycle_event: 'demo' }
    const shell = spawn('sh', ['-c', command], { env })
    children.add(shell)
    await once(shell.stdout, 'data')
    shell.kill('SIGKILL')
    await once(shell, 'close') // not before nobody holds its output any more
    expect(await demo(dir, ['--list'])).toMatchObject({ status: 0, errors: '' })
  })

  it('keeps the conversation at Ctrl-C and says so', async () => {
    const dir = newRoom()
    const first = start(dir, ['--wait', '30', 'refund order 78'])
    await first.says('the bank checks')
    first.process.kill('SIGINT')
    expect(await first.ended).toBe(130)
    expect(first.output()).toContain('The conversation is kept: start the demo again to go on')
    const second = start(dir, [])
    await second.says('the bank checks $34.50')
    expect(second.output()).not.toContain('understood')
    second.process.kill('SIGKILL')
  })

  it(
    'goes on after kill -9 in the middle of a wait, at the instant that was set before',
    { timeout: 30_000 },
    async () => {
      const dir = newRoom()
      const first = start(dir, ['--wait', '4', 'refund order 78'])
      await first.says('the bank checks')
      const began = Date.now()
      first.process.kill('SIGKILL')
      await first.ended
      const second = await demo(dir, ['--wait', '4'])
      expect(second.output).toMatch(
        /Going on where it stopped[^]*the bank checks[^]*Answer: .*R-0001/,
      )
      expect(Date.now() - began).toBeGreaterThan(3_000)
      expect(Date.now() - began).toBeLessThan(7_000)
      expect(ledger(dir)).toHaveLength(1)
    },
  )

  it(
    'pays every refund exactly once however often and whenever it is killed with -9',
    { timeout: 120_000 },
    async () => {
      const dir = newRoom()
      const cases = [
        ['The teapot of order 78 is broken, I want my money back', '78'],
        ['pls refund order 1042!!', '1042'],
        ['A-1042 does not work, give me a refund', 'A-1042'],
      ] as const
      let kills = 0
      for (const [message, order] of cases) {
        for (let attempt = 0; ; attempt++) {
          const child = start(dir, ['--wait', '0.3', message])
          child.process.stdin.end('yes\n')
          // Every fourth attempt may finish: what is killed over and over in its first moments never gets anywhere.
          await Promise.race([once(child.process.stdout, 'data'), child.ended])
          const delay = attempt % 4 === 3 ? 60_000 : Math.random() * 200
          const timer = setTimeout(() => child.process.kill('SIGKILL'), delay)
          const status = await child.ended
          clearTimeout(timer)
          if (status === 0 && child.output().includes('Answer:')) break
          if (status !== 0) expect(child.errors(), child.output()).toBe('')
          kills++
          expect(ledger(dir).filter((entry) => entry.order === order).length).toBeLessThanOrEqual(1)
        }
      }
      expect(kills).toBeGreaterThan(0)
      expect(ledger(dir).map(({ order }) => order)).toEqual(cases.map(([, order]) => order))
      expect(new Set(ledger(dir).map(({ key }) => key)).size).toBe(3)
    },
  )
})

interface Started {
  readonly process: ChildProcessWithoutNullStreams
  readonly ended: Promise<number | null>
  output(): string
  errors(): string
  /** Resolves once the program has said this, rejects if it ends before. */
  says(text: string): Promise<void>
}

function start(dir: string, args: readonly string[]): Started {
  const child = spawn(process.execPath, [program, '--dir', dir, ...args])
  children.add(child)
  let [output, errors] = ['', '']
  child.stdout.on('data', (bytes) => (output += bytes))
  child.stderr.on('data', (bytes) => (errors += bytes))
  child.stdin.on('error', () => {}) // a killed reader
  const ended = once(child, 'close').then(([status]) => {
    children.delete(child)
    return status as number | null
  })
  return {
    process: child,
    ended,
    output: () => output,
    errors: () => errors,
    async says(text) {
      let over = false
      void ended.then(() => (over = true))
      while (!output.includes(text)) {
        if (over) throw new Error(`It ended without saying "${text}":\n${output}\n${errors}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
    },
  }
}

async function demo(
  dir: string,
  args: readonly string[],
  input = '',
): Promise<{ output: string; errors: string; status: number | null }> {
  const child = start(dir, args)
  child.process.stdin.end(input)
  const status = await child.ended
  return { output: child.output(), errors: child.errors(), status }
}

function ledger(dir: string): readonly Entry[] {
  const file = join(dir, 'ledger.log')
  return existsSync(file) ? fileLedger(file).entries() : []
}
