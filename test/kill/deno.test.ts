import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { denoRun } from '../../scripts/places/deno.ts'

let folder = ''
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'heddle-deno-kill-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Told {
  readonly did?: number
  readonly stored?: number
  readonly step?: number
  readonly done?: unknown
}

test('what Deno KV committed is there after kill -9, and no batch is torn', async () => {
  for (const last of [10, 60]) {
    const committed = await visit<number>('rows', 'write', (n) => n === last)
    expect(committed.at(-1)).toBe(last)
    const rows = await visit<string>('rows', 'read')
    for (const n of committed) expect(rows).toContain(`h/${n} ${n} 5000`)
    const heads = rows.filter((row) => row.startsWith('h/'))
    expect(rows.filter((row) => row.startsWith('t/'))).toEqual(
      heads.map((row) => row.replace('h/', 't/')),
    )
  }
}, 120_000)

test('a step that was told is there after kill -9, no stored effect is repeated, and the run goes on to its end', async () => {
  const all: Told[] = []
  for (const phase of ['start', 'go on']) {
    // In the node that hangs, then in the middle of whatever the run does.
    const enough = ({ stored, step = -1 }: Told): boolean =>
      phase === 'start' ? stored === 15 : step >= 20
    const told = await visit<Told>('steps', phase, enough)
    all.push(...told)
    const [found] = await visit<{ n: number; seen: number[]; status: string }>('steps', 'read')
    expect(found!.n).toBeGreaterThanOrEqual(Math.max(...told.map(({ step = -1 }) => step)))
    expect(found!.seen).toEqual(Array.from({ length: found!.n }, (_, n) => n))
    expect(found!.status).toBe('running')
  }
  const end = await visit<Told>('steps', 'end')
  all.push(...end)
  expect(end.at(-1)).toEqual({ done: { n: 40, seen: Array.from({ length: 40 }, (_, n) => n) } })
  for (const { stored } of all) {
    if (stored === undefined) continue
    const before = all.findIndex((one) => one.stored === stored)
    expect(all.slice(before).filter(({ did }) => did === stored)).toEqual([])
  }
}, 120_000)

/**
 * Runs a program in Deno on the database of this test.
 *
 * @param phase What it is to do
 * @param enough Whether this line is the last: Deno dies by SIGKILL the moment it has told it
 * @returns What it told, line by line
 */
async function visit<Line>(
  program: string,
  phase: string,
  enough?: (line: Line) => boolean,
): Promise<readonly Line[]> {
  const [command, ...args] = denoRun(`--allow-read=${folder}`, `--allow-write=${folder}`)
  const file = join(folder, 'kv.sqlite3')
  const child = spawn(command, [...args, `test/kill/${program}.deno.ts`, file, phase], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  const lines: Line[] = []
  let killed = false
  for await (const text of createInterface({ input: child.stdout })) {
    if (killed) continue
    const line = JSON.parse(text) as Line
    lines.push(line)
    if (!enough?.(line)) continue
    // All of the group: what npm installs starts the real one.
    process.kill(-child.pid!, 'SIGKILL')
    killed = true
  }
  const [code] = await exit
  if (killed !== (enough !== undefined) || (!killed && code !== 0))
    throw new Error(`Cannot finish "${phase}": Deno ended after ${JSON.stringify(lines.slice(-3))}`)
  return lines
}
