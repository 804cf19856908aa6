// The documentation is held to the code: programs equal the examples, other blocks compile as they stand, what is named exists.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as heddle from 'heddle'
import { build } from 'esbuild'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const documents = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

interface Block {
  readonly file: string
  readonly line: number
  readonly text: string
}

const blocks: readonly Block[] = documents.flatMap(blocksOf)
const EXAMPLE = /^\/\/ (examples\/[\w-]+\.ts)\n/

describe('programs', () => {
  const programs = blocks.filter(({ text }) => EXAMPLE.test(text))
  it.each(programs)('in $file at line $line are the example that is tested', ({ text }) => {
    const file = EXAMPLE.exec(text)![1]!
    expect(text.replace(EXAMPLE, '')).toBe(textOf(file))
    expect(textOf('test/examples/examples.test.ts')).toContain(file.slice('examples/'.length))
  })

  it('are shown for the README and for every small example', () => {
    const shown = programs.map(({ text }) => EXAMPLE.exec(text)![1])
    const small = readdirSync(join(root, 'examples')).filter((name) =>
      /^(?!file-).*\.ts$/.test(name),
    )
    expect([...new Set(shown)].toSorted()).toEqual(
      small.map((name) => `examples/${name}`).toSorted(),
    )
    expect(EXAMPLE.test(blocks.find(({ file }) => file === 'README.md')!.text)).toBe(true)
  })
})

it('it is said which examples print something when they are run', { timeout: 60_000 }, async () => {
  const row = /^\| \[[\w-]+\.ts\]\(\.\.\/(.*?)\) \|.*\| prints (nothing)?.*\|$/gm
  const told = [...textOf('docs/examples.md').matchAll(row)].map(([, file, none]) => ({
    file: file!,
    prints: none === undefined,
  }))
  expect(told.length).toBeGreaterThan(5)
  const found = told.map(async ({ file }) => {
    const program = ['scripts/run.mjs', file]
    const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: root })
    return { file, prints: stdout !== '' }
  })
  expect(await Promise.all(found)).toEqual(told)
})

it(
  'every other block of TypeScript compiles as it stands, with the imports it needs',
  { timeout: 120_000 },
  () => {
    const rest = blocks.filter(({ text }) => !EXAMPLE.test(text))
    expect(rest.length).toBeGreaterThan(3)
    expect(problemsOf(rest)).toEqual([])
  },
)

it(
  'a block that uses what is not there, or is not imported, would not compile',
  { timeout: 120_000 },
  () => {
    const wrong = "import { field } from 'heddle'\nfield(0).dye()\n"
    const bare = "export const colour = field('')\n"
    expect(
      problemsOf([wrong, bare].map((text, line) => ({ file: 'README.md', line, text }))),
    ).toEqual([expect.stringContaining("'dye'"), expect.stringContaining("'field'")])
  },
)

describe('blocks about agents', () => {
  const pages = ['docs/agents.md', 'docs/models.md', 'docs/threads.md']
  // What asks a provider, or takes what the reader has, can't.
  const alone = blocks.filter(
    ({ file, text }) =>
      pages.includes(file) && !EXAMPLE.test(text) && !/https?:\/\/|^declare /m.test(text),
  )
  it.each(alone)('run: $file at line $line', async ({ file, line, text }) => {
    const outfile = join(root, `node_modules/.cache/heddle/${file.replace(/\W/g, '-')}-${line}.mjs`)
    await build({
      stdin: { contents: text, resolveDir: root, loader: 'ts' },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'silent',
    })
    try {
      const { stderr } = await promisify(execFile)(process.execPath, [outfile], { cwd: root })
      expect(stderr).toBe('')
    } finally {
      rmSync(outfile)
    }
  })
})

describe.each(documents)('%s', (file) => {
  it('links to what exists', () => {
    const links = [...textOf(file).matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]*))?\)/g)]
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? file : join(dirname(file), path)
      if (!existsSync(join(root, target))) return true
      return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor)
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  it('names files and commands that exist', () => {
    const text = textOf(file)
    const paths = [...text.matchAll(/`((?:src|test|adapters|examples|scripts|bench)\/[\w./*-]*)`/g)]
    expect(paths.map(([, path]) => path!).filter((path) => !isThere(path))).toEqual([])
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const commands = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!)
    expect(commands.filter((name) => !(name in scripts))).toEqual([])
  })
})

it('the errors that are told of are those that there are', () => {
  const classes = Object.keys(heddle).filter((name) => name !== 'HeddleError' && isErrorClass(name))
  const codes = classes.map((name) => name.replace(/(?!^)[A-Z]/g, '_$&').toLowerCase())
  const errors = textOf('docs/runs.md').split('\n## Errors\n')[1]!
  const told = [...errors.matchAll(/`([a-z]+_[a-z_]+|cancelled|unreachable)`/g)].map(
    ([, code]) => code!,
  )
  expect(codes.length).toBeGreaterThan(30)
  expect([...new Set(told)].filter((code) => code !== 'thread_busy').toSorted()).toEqual(
    codes.filter((code) => code !== 'thread_busy').toSorted(),
  )
})

it('the README can be read in one go', () => {
  expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
})

function blocksOf(file: string): Block[] {
  const text = textOf(file)
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    text: match[1]!,
  }))
}

/** What the compiler says of blocks, as modules beside the examples. */
function problemsOf(list: readonly Block[]): string[] {
  const names = new Map(
    list.map(({ file, line, text }) => [
      join(root, 'examples', `${file.replace(/\W/g, '-')}-${line}.ts`),
      text,
    ]),
  )
  const path = join(root, 'tsconfig.json')
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    root,
  )
  const host = ts.createCompilerHost(config.options)
  const { fileExists, readFile } = host
  host.fileExists = (name) => names.has(name) || fileExists(name)
  host.readFile = (name) => names.get(name) ?? readFile(name)
  const program = ts.createProgram([...names.keys()], config.options, host)
  return [...names.keys()].flatMap((name) => {
    const source = program.getSourceFile(name)
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ]
    return found.map(
      ({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    )
  })
}

/** How GitHub names the headings of a document. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isThere(path: string): boolean {
  if (!path.includes('*')) return existsSync(join(root, path))
  const pattern = new RegExp(
    `^${path.split('/').at(-1)!.replaceAll('.', '\\.').replaceAll('*', '.*')}$`,
  )
  return readdirSync(join(root, dirname(path))).some((name) => pattern.test(name))
}

function isErrorClass(name: string): boolean {
  const value = (heddle as unknown as Record<string, unknown>)[name]
  return typeof value === 'function' && value.prototype instanceof heddle.HeddleError
}
