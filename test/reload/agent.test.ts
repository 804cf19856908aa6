// The same agent, streaming, with an approval in its middle and a reload between question and answer, is the same story
// everywhere: in a page that reloads, in isolates and in processes that come one after the other.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../../scripts/places/bundle.ts'
import { denoRun } from '../../scripts/places/deno.ts'
import { launch } from '../../scripts/places/launch.ts'

const run = promisify(execFile)
const room = mkdtempSync(join(tmpdir(), 'heddle-reload-'))
afterAll(() => rmSync(room, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))

const VISITS = ['ask', 'answer', 'go on', 'look']
type Story = readonly (readonly string[])[]

let told: Story
beforeAll(async () => {
  told = await inNode()
})

describe('in Node, on a file, a process per visit', () => {
  test('is told in four visits', () => {
    expect(told.map(([first]) => first)).toEqual(VISITS.map((name) => `visit "${name}"`))
  })

  test('text comes while the model is in the middle of it', () => {
    // The model doesn't go on before the first half was read from the stream.
    const [ask, answer] = told
    expect(data(ask!, 'text').map(({ delta }) => delta)).toEqual([
      ...['Let me ', 'look.'],
      ...['I ask ', 'for it.'],
    ])
    expect(data(answer!, 'text').map(({ delta }) => delta)).toEqual([
      'Done: 40 ',
      'are on their way 🫖.',
    ])
  })

  test('asks once, and pays once what was approved', () => {
    expect(told.map((lines) => heads(lines, 'does').map((line) => JSON.parse(line)))).toEqual([
      ['find 7', 'write "We look into it"'],
      ['pay 40 for 7'],
      [],
      [],
    ])
    expect(kinds(told[0]!).filter((kind) => kind === 'interrupt')).toHaveLength(1)
    expect(kinds(told[0]!).at(-1)).toBe('interrupt')
    expect(kinds(told[1]!)).not.toContain('interrupt')
    expect(kinds(told[1]!).at(-1)).toBe('done')
  })

  test('asks the model once a turn, with all that was said', () => {
    const asked = told.flatMap((lines) => heads(lines, 'is asked').map((line) => JSON.parse(line)))
    expect(asked.map(({ messages }) => messages.length)).toEqual([1, 3, 6, 8])
    expect(asked.map(({ instructions }) => instructions)).toEqual(
      [1, 3, 6, 8].map((n) => `Be brief: ${n} messages so far.`),
    )
  })

  test('counts each request once, and sums runs up', () => {
    const [look] = told.slice(-1)
    const runs = heads(look!, 'run').map((line) => JSON.parse(line))
    expect(runs.map(({ status, usage }) => [status, usage.requests, usage.input])).toEqual([
      ['success', 1, 80],
      ['success', 1, 60],
      ['interrupted', 2, 40],
    ])
  })

  test('keeps each message once, and the log of all of it', () => {
    const [look] = told.slice(-1)
    const messages = heads(look!, 'message').map((line) => JSON.parse(line))
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    expect(messages.map(({ role }) => role).toSorted()).toEqual([
      ...Array(4).fill('assistant'),
      ...Array(3).fill('tool'),
      'user',
      'user',
    ])
    const streamed = told.slice(0, 2).flatMap((lines) => heads(lines, 'event'))
    expect(heads(look!, 'logged').slice(0, streamed.length)).toEqual(streamed)
  })
})

test('in Chromium, on IndexedDB, with real reloads, it is the same', async () => {
  const visits = await inChromium()
  expect(visits.map(({ by }) => by)).toEqual(['navigate', 'reload', 'reload', 'reload'])
  expect(visits.map(({ lines }) => lines)).toEqual(told)
}, 120_000)

test('in workerd, on KV, an instance per visit, it is the same', async () => {
  expect(await inWorkerd()).toEqual(told)
}, 240_000)

test('in Deno, on Deno KV, a process per visit, it is the same', async () => {
  expect(await inDeno()).toEqual(told)
}, 120_000)

async function inNode(): Promise<Story> {
  const file = join(room, 'node.log')
  return inProcesses('node', 'scripts/run.mjs', 'test/reload/agent.node.ts', file)
}

async function inDeno(): Promise<Story> {
  const touching = [`--allow-read=${room}`, `--allow-write=${room}`]
  const file = join(room, 'kv.sqlite3')
  return inProcesses(...denoRun(...touching), 'test/reload/agent.deno.ts', file)
}

async function inProcesses(command: string, ...args: readonly string[]): Promise<Story> {
  const story: string[][] = []
  for (const _ of VISITS) {
    const { stdout } = await run(command, args, { maxBuffer: 1 << 24 })
    story.push(stdout.trimEnd().split('\n'))
  }
  return story
}

async function inWorkerd(): Promise<Story> {
  const script = await bundle('test/reload/agent.worker.ts', ['workerd', 'worker'])
  const story: string[][] = []
  for (const _ of VISITS) {
    const miniflare = new Miniflare({
      modules: true,
      script,
      compatibilityDate: '2026-04-01',
      compatibilityFlags: [],
      kvNamespaces: { KV: 'story' },
      kvPersist: join(room, 'kv'),
      cf: false,
    })
    try {
      const response = await miniflare.dispatchFetch('http://localhost/')
      story.push((await response.text()).trimEnd().split('\n'))
    } finally {
      await miniflare.dispose()
    }
  }
  return story
}

interface Visit {
  readonly lines: readonly string[]
  /** How the page came to be loaded. */
  readonly by: string
  readonly more: boolean
  readonly error?: string
}

async function inChromium(): Promise<readonly Visit[]> {
  const script = await bundle('test/reload/agent.page.ts')
  const visits: Visit[] = []
  let done = (): void => {}
  const over = new Promise<void>((resolve) => (done = resolve))
  const server = createServer(async (request, response) => {
    if (request.url === '/told') {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      visits.push(JSON.parse(body) as Visit)
      response.end()
      if (!visits.at(-1)!.more) done()
      return
    }
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><script type=module src=/page.js></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await launch('chromium')
  try {
    const page = await browser.newPage()
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
    await over
    expect(visits.flatMap(({ error }) => error ?? [])).toEqual([])
    return visits
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
}

/** What lines of one kind say. */
function heads(lines: readonly string[], head: string): readonly string[] {
  return lines.flatMap((line) => (line.startsWith(`${head} `) ? [line.slice(head.length + 1)] : []))
}

interface Event {
  readonly kind: string
  readonly data?: { readonly kind: string; readonly delta?: string }
}

const events = (lines: readonly string[]): readonly Event[] =>
  heads(lines, 'event').map((line) => JSON.parse(line))

function kinds(lines: readonly string[]): readonly string[] {
  return events(lines).map(({ kind }) => kind)
}

function data(lines: readonly string[], kind: string): readonly { readonly delta?: string }[] {
  return events(lines).flatMap((event) => (event.data?.kind === kind ? [event.data] : []))
}
