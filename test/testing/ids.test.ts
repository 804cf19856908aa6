import { expect, test } from 'vitest'
import { countingIds } from '../../adapters/testing.ts'

test('ids count up, each prefix by itself', () => {
  const newId = countingIds()
  expect([newId('run_'), newId('run_'), newId('msg_'), newId('run_')]).toEqual([
    'run_1',
    'run_2',
    'msg_1',
    'run_3',
  ])
})

test('two counters start anew', () => {
  expect([countingIds()('run_'), countingIds()('run_')]).toEqual(['run_1', 'run_1'])
})
