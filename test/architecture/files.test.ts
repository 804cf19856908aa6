import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { filesIn } from './sources.ts'

const LONGEST = 250
// A table of cases reads better whole than cut in two.
const LONGEST_TABLE = 400
// Files that may be longer, each with its reason.
const long: Readonly<Record<string, string>> = {
  'examples/nlu/corpus.ts': 'it is data: what the classifier is trained on',
}

const files = filesIn('src', 'adapters', 'scripts', 'bench', 'examples', 'test')
const sources = files.filter((file) => /\.(ts|mjs)$/.test(file))

it('file names are kebab-case', () => {
  expect(
    files.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)+$/.test(basename(file))),
  ).toEqual([])
})

it(`a file has at most ${LONGEST} lines, or a reason`, () => {
  const tooLong = sources.filter((file) => lines(file) > limit(file))
  expect(
    tooLong.filter((file) => !(file in long)).map((file) => `${file}: ${lines(file)}`),
  ).toEqual([])
})

it('no exception to the length of a file is stale', () => {
  expect(
    Object.keys(long).filter((file) => !files.includes(file) || lines(file) <= limit(file)),
  ).toEqual([])
})

it('every check that is switched off says why', () => {
  const off = /\/[/*]\s*(?:(?:oxlint|eslint)-disable|@ts-(?:ignore|nocheck|expect-error))/
  const reason = /-disable\S*\s+\S.* -- \S|@ts-expect-error\W*\w/
  const silent = sources.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => off.test(line) && !reason.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(silent).toEqual([])
})

const limit = (file: string): number => (file.startsWith('test/') ? LONGEST_TABLE : LONGEST)

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

function lines(file: string): number {
  return read(file).trimEnd().split('\n').length
}
