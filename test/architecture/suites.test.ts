import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesIn } from './sources.ts'

it('every suite that needs no runner is registered to run in every place', () => {
  const registries = ['test/runtime/suites.ts', 'test/runtime/page-suites.ts']
  const registry = registries.map((file) => readFileSync(file, 'utf8')).join('')
  const suites = filesIn('test').filter((file) => file.endsWith('.suite.ts'))
  expect(suites.filter((file) => !registry.includes(`'../${file.slice('test/'.length)}'`))).toEqual(
    [],
  )
})
