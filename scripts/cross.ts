// Runs test/runtime in every place: npm run cross [-- place… | --record]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Place, Report } from '../test/runtime/report.ts'
import { places } from './places/places.ts'

const TRANSCRIPT = 'test/runtime/transcript.json'
const args = process.argv.slice(2)
const record = args.includes('--record')
const chosen = args.filter((arg) => !arg.startsWith('-')) as Place[]
const unknown = chosen.filter((place) => !(place in places))
if (unknown.length > 0)
  throw new Error(
    `Cannot run in ${unknown.join(', ')}: the places are ${Object.keys(places).join(', ')}`,
  )
if (record && process.env['CI']) throw new Error('Cannot record the transcript: CI only compares')

const counts = { passed: 0, failed: 0, skipped: 0 }
const told = new Map<Place, readonly string[]>()
const queue = record
  ? (['node'] as Place[])
  : chosen.length > 0
    ? chosen
    : (Object.keys(places) as Place[])
await Promise.all([lane(), lane()])
compare()
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
if (process.env['HEDDLE_COUNTS'])
  writeFileSync(process.env['HEDDLE_COUNTS'], JSON.stringify(counts))
process.exit(counts.failed > 0 ? 1 : 0)

async function lane(): Promise<void> {
  for (let place = queue.shift(); place; place = queue.shift()) {
    const start = Date.now()
    const { results, transcript } = await visit(place)
    const failures = results.filter(({ error }) => error !== undefined)
    counts.passed += results.length - failures.length
    counts.failed += failures.length
    if (transcript) told.set(place, transcript)
    console.log(
      `${place}: ${results.length - failures.length} of ${results.length} cases (${Date.now() - start} ms)`,
    )
    for (const { suite, name, error } of failures)
      console.log(`  FAIL ${place} > ${suite} > ${name}\n${indent(error ?? '')}`)
  }
}

async function visit(place: Place): Promise<Report> {
  try {
    return await places[place]()
  } catch (error) {
    return {
      results: [
        {
          suite: 'runner',
          name: 'gives a report',
          error: error instanceof Error ? error.message : String(error),
        },
      ],
    }
  }
}

/** Holds what each place told against the recorded transcript: one more case per place. */
function compare(): void {
  if (record) {
    const transcript = told.get('node')
    if (transcript) writeFileSync(TRANSCRIPT, `${JSON.stringify(transcript, undefined, 2)}\n`)
  }
  const recorded = existsSync(TRANSCRIPT)
    ? (JSON.parse(readFileSync(TRANSCRIPT, 'utf8')) as readonly string[])
    : []
  for (const [place, transcript] of told) {
    // A list of well-formed strings: JSON.stringify is its canonical JSON.
    const same = recorded.length > 0 && JSON.stringify(transcript) === JSON.stringify(recorded)
    counts[same ? 'passed' : 'failed']++
    if (!same)
      console.log(
        `  FAIL ${place} > transcript > is the recorded one\n${indent(difference(recorded, transcript))}`,
      )
  }
}

function difference(recorded: readonly string[], transcript: readonly string[]): string {
  if (recorded.length === 0) return `There is none: npm run cross -- --record`
  const lines: string[] = []
  for (let i = 0; i < Math.max(recorded.length, transcript.length); i++) {
    if (recorded[i] === transcript[i]) continue
    lines.push(
      `line ${i + 1}`,
      `  recorded: ${recorded[i] ?? '(none)'}`,
      `  told:     ${transcript[i] ?? '(none)'}`,
    )
    if (lines.length > 30) return [...lines, '…'].join('\n')
  }
  return lines.join('\n')
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '      ')
}
