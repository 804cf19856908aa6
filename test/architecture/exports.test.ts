import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { exported, sourceOf } from '../../scripts/entries.ts'

const keys = Object.keys(exported())

it('every export has its source', () => {
  expect(keys.filter((key) => !existsSync(sourceOf(key)))).toEqual([])
})

it('every adapter is exported', () => {
  const adapters = readdirSync('adapters').filter((file) => file.endsWith('.ts'))
  expect(
    adapters.map((file) => `./${file.replace(/\.ts$/, '')}`).filter((key) => !keys.includes(key)),
  ).toEqual([])
})

it('every export is built to a file of its name, with types first', () => {
  for (const [key, target] of Object.entries(exported())) {
    const name = key === '.' ? 'index' : key.slice('./'.length)
    expect(JSON.stringify(target)).toBe(
      JSON.stringify({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` }),
    )
  }
})

it('Deno finds every export in the sources', () => {
  const { imports } = JSON.parse(readFileSync('test/runtime/deno.json', 'utf8')) as {
    imports: Record<string, string>
  }
  const expected = keys.map((key) => [key.replace('.', 'heddle'), `../../${sourceOf(key)}`])
  expect(imports).toEqual(Object.fromEntries(expected))
})

it('only nanoid is installed with the package', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  ) as {
    dependencies: Record<string, string>
    peerDependencies: Record<string, string>
    peerDependenciesMeta: Record<string, { optional: boolean }>
  }
  expect(Object.keys(dependencies)).toEqual(['nanoid'])
  expect(
    Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true),
  ).toEqual([])
})
