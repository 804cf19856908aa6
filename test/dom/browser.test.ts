import { broadcastPresence, watchPresence } from 'heddle/browser'
import { expect, it, vi } from 'vitest'

it('where there is no BroadcastChannel nothing is told, and nothing breaks', () => {
  vi.stubGlobal('BroadcastChannel', undefined)
  const heard: unknown[] = []
  const stop = watchPresence((state) => heard.push(state))
  broadcastPresence().set('thinking', { run: 'r', thread: 't', agent: 'a' })
  stop()
  vi.unstubAllGlobals()
  expect(heard).toEqual([])
})
