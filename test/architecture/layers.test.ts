import { dirname, join } from 'node:path/posix'
import { expect, it } from 'vitest'
import { filesIn, importsOf } from './sources.ts'

// Who may import whom, from the inside out. What stands after `types` may be named in types only.
const root = ['errors', 'schema', 'usage']
const inner = [...root, 'lib', 'scope', 'store', 'hook', 'durable', 'graph', 'cache']
const layers: Readonly<
  Record<string, { readonly from: readonly string[]; readonly types: readonly string[] }>
> = {
  errors: { from: [], types: ['schema'] },
  schema: { from: [], types: [] },
  usage: { from: [], types: [] },
  lib: { from: ['errors'], types: ['schema'] },
  scope: { from: ['errors', 'lib'], types: ['graph', 'tool'] },
  store: { from: ['errors', 'lib'], types: [] },
  hook: { from: [...root, 'lib', 'scope'], types: ['graph', 'model', 'tool'] },
  graph: {
    from: [...root, 'lib'],
    types: ['scope', 'store', 'durable', 'engine', 'model', 'tool'],
  },
  durable: { from: [...root, 'lib', 'store'], types: ['graph', 'engine'] },
  cache: { from: [...root, 'lib', 'scope', 'store', 'durable'], types: ['graph'] },
  model: {
    from: inner,
    types: ['engine', 'tool'],
  },
  engine: { from: [...inner, 'model'], types: ['tool'] },
  tool: { from: [...inner, 'model', 'engine'], types: [] },
  policy: { from: [...inner, 'model', 'engine', 'tool'], types: [] },
  agent: { from: [...inner, 'model', 'engine', 'tool', 'policy'], types: [] },
  index: { from: [...inner, 'model', 'engine', 'tool', 'policy', 'agent'], types: [] },
}

it('imports in src point inward', () => {
  const outward: string[] = []
  for (const file of filesIn('src')) {
    const here = layerOf(file)
    const allowed = layers[here]
    if (!allowed) outward.push(`${file}: no layer "${here}" is known`)
    for (const { specifier, typeOnly } of importsOf(file)) {
      if (!specifier.startsWith('.')) continue
      const there = layerOf(join(dirname(file), specifier))
      const fine =
        there === here ||
        allowed?.from.includes(there) ||
        (typeOnly && allowed?.types.includes(there))
      if (!fine) outward.push(`${file} imports ${specifier}`)
    }
  }
  expect(outward).toEqual([])
})

it('an adapter imports the core by its index, its own folder, and nothing else of ours', () => {
  const wrong = filesIn('adapters').flatMap((file) => {
    const own = `adapters/${file.split('/')[1]?.replace(/\.ts$/, '')}/`
    return importsOf(file)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => join(dirname(file), specifier))
      .filter((path) => path !== 'src/index.ts' && !path.startsWith(own))
      .map((path) => `${file} imports ${path}`)
  })
  expect(wrong).toEqual([])
})

it('local imports name the file, with its extension', () => {
  const files = filesIn('src', 'adapters', 'scripts', 'test')
  const wrong = files.filter(isTypeScript).flatMap((file) =>
    importsOf(file)
      .filter(({ specifier }) => specifier.startsWith('.') && !/\.(ts|mjs|json)$/.test(specifier))
      .map(({ specifier }) => `${file} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

function layerOf(path: string): string {
  return path.split('/')[1]?.replace(/\.ts$/, '') ?? path
}

function isTypeScript(file: string): boolean {
  return file.endsWith('.ts')
}
