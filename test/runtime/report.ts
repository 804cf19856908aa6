import type { Store } from '../../src/store/store.ts'
import { tell } from './story.ts'

/** Where a suite can run. Each has a runner of this name in `scripts/places`. */
export type Place =
  | 'node'
  | 'happy-dom'
  | 'chromium'
  | 'firefox'
  | 'webkit'
  | 'workerd'
  | 'deno'
  | 'bun'

/** Opens (again, for a name that was used before) a store of the place we run in. */
export type Open = (name: string) => Store | Promise<Store>

/** How one case went. */
export interface Result {
  readonly suite: string
  readonly name: string
  readonly error?: string
}

/** What one place reports to `scripts/cross.ts`. */
export interface Report {
  readonly results: readonly Result[]
  /** Absent when the story failed; `results` says why. */
  readonly transcript?: readonly string[]
}

/** One promise, for any test runner or none. */
export interface Case {
  readonly name: string
  readonly run: () => unknown
}

/** Cases that need no test runner, so that they run in every place. */
export interface Suite {
  readonly name: string
  readonly places: readonly Place[]
  /** Stores of those places that are left out, by the names that a place gives them. */
  readonly except?: readonly string[]
  readonly load: (open: Open) => Promise<readonly Case[]>
}

const CASE_TIMEOUT = 120_000

/** Tells the story and runs every suite of a place, one case after the other. */
export async function report(place: Place, open: Open, suites: readonly Suite[]): Promise<Report> {
  const results: Result[] = []
  let transcript: readonly string[] | undefined
  const tellIt = async (): Promise<void> => {
    transcript = await tell(open)
  }
  results.push(await attempt('story', { name: 'is told to its end', run: tellIt }))
  for (const suite of suites) {
    if (!suite.places.includes(place)) continue
    let cases: readonly Case[] = []
    const load = async (): Promise<void> => {
      cases = await suite.load(open)
      if (cases.length === 0) throw new Error(`Suite "${suite.name}" has no cases`)
    }
    const loaded = await attempt(suite.name, { name: 'loads', run: load })
    if (loaded.error !== undefined) results.push(loaded)
    for (const one of cases) results.push(await attempt(suite.name, one))
  }
  return { results, ...(transcript && { transcript }) }
}

async function attempt(suite: string, { name, run }: Case): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not done after ${CASE_TIMEOUT} ms`)), CASE_TIMEOUT)
  })
  try {
    await Promise.race([(async () => run())(), late])
    return { suite, name }
  } catch (error) {
    return { suite, name, error: describe(error) }
  } finally {
    if (timer !== undefined) clearTimeout(timer)
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = (error.stack ?? '')
    .replace(String(error), '')
    .trim()
    .split('\n')
    .slice(0, 6)
    .join('\n')
  return `${String(error)}\n${stack}`.trim()
}
