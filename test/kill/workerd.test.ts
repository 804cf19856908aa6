import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bundle } from '../../scripts/places/bundle.ts'

let folder = ''
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-workerd-kill-'))
  const worker = await bundle('test/kill/workerd.worker.ts', ['workerd', 'worker'])
  writeFileSync(join(folder, 'worker.js'), worker)
})
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))

const upTo = (end: number): number[] => Array.from({ length: end }, (_, n) => n)

describe.each(['durable-object', 'd1'])('%s', (store) => {
  test('what was committed is there after kill -9, and no batch is torn', async () => {
    interface Told {
      readonly found?: readonly string[]
      readonly wrote?: number
    }
    const path = `/${store}/rows`
    const written: number[] = []
    for (const last of [10, 60, undefined]) {
      const told = last
        ? await visit<Told>(`${path}/write`, ({ wrote }) => wrote === last)
        : await visit<Told>(`${path}/read`)
      const found = told[0]!.found!
      for (const n of written) expect(found).toContain(`h/${n} ${n} 5000`)
      const heads = found.filter((row) => row.startsWith('h/'))
      expect(found).toEqual([...heads, ...heads.map((row) => row.replace('h/', 't/'))])
      written.push(...told.flatMap(({ wrote = [] }) => wrote))
    }
    expect(written.at(-1)).toBe(60)
  }, 120_000)

  test('a step that was told is there after kill -9, no stored effect is repeated, and the run goes on to its end', async () => {
    interface Told {
      readonly found?: { readonly n?: number; readonly seen?: number[]; readonly status?: string }
      readonly did?: number
      readonly stored?: number
      readonly step?: number
      readonly done?: unknown
    }
    const path = `/${store}/steps`
    const all: Told[] = [
      // In the node that hangs, then in the middle of whatever the run does.
      ...(await visit<Told>(`${path}/start`, ({ stored }) => stored === 15)),
      ...(await visit<Told>(`${path}/go-on`, ({ step = -1 }) => step >= 20)),
      ...(await visit<Told>(`${path}/end`)),
    ]
    const founds = all.flatMap(({ found }, at) => (found ? { ...found, at } : []))
    expect(founds.map(({ status }) => status)).toEqual([undefined, 'running', 'running'])
    for (const { n, seen, at } of founds.slice(1)) {
      expect(n).toBeGreaterThanOrEqual(Math.max(...all.slice(0, at).map(({ step = 0 }) => step)))
      expect(seen).toEqual(upTo(n!))
    }
    expect(all.at(-1)).toEqual({ done: { n: 40, seen: upTo(40) } })
    for (const [at, { stored }] of all.entries()) {
      if (stored === undefined) continue
      expect(all.slice(at).filter(({ did }) => did === stored)).toEqual([])
    }
  }, 120_000)
})

/**
 * Asks a worker, on databases that outlive it.
 *
 * @param path Which store, which program, and what it is to do
 * @param enough Whether this line is the last: workerd, and what started it, die by SIGKILL the moment it was told
 * @returns What it told, line by line
 */
async function visit<Line>(
  path: string,
  enough?: (line: Line) => boolean,
): Promise<readonly Line[]> {
  const args = ['scripts/run.mjs', 'test/kill/workerd.host.ts', folder, path]
  const host = spawn('node', args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(host, 'exit') as Promise<[number | null]>
  const lines: Line[] = []
  let killed = false
  for await (const text of createInterface({ input: host.stdout })) {
    if (killed) continue
    const line = JSON.parse(text) as Line
    lines.push(line)
    if (!enough?.(line)) continue
    process.kill(-host.pid!, 'SIGKILL')
    killed = true
  }
  const [code] = await exit
  if (killed !== (enough !== undefined) || (!killed && code !== 0))
    throw new Error(`Cannot finish ${path}: workerd ended after ${JSON.stringify(lines.slice(-3))}`)
  return lines
}
