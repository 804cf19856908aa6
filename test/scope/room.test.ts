import { scopeLocal } from 'heddle'
import { expect, test } from 'vitest'
import { openScope } from '../../src/scope/scope.ts'
import { silent } from '../fakes/silent.ts'

test('a scope holds on to nothing that was closed, or never came', async () => {
  const room = openScope(new AbortController().signal, silent)
  const good = scopeLocal(() => ({}), { close: () => {} })
  const stuck = scopeLocal(() => ({}), { close: () => Promise.reject(new Error('stuck')) })
  const never = scopeLocal(() => Promise.reject(new Error('never')))
  for (let n = 0; n < 3; n++) {
    good.get(room.scope)
    stuck.get(room.scope)
    await good.close(room.scope)
    await expect(stuck.close(room.scope)).rejects.toThrow('stuck')
    await expect(never.get(room.scope)).rejects.toThrow('never')
  }
  expect(room.closers.size).toBe(0)
  good.get(room.scope)
  room.scope.defer(() => {})
  await room.close()
  expect(room.closers.size).toBe(0)
})
