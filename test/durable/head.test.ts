// The one row of a thread that changes, and what of it may be absent.
import { expect, it } from 'vitest'
import { headText, readHead, runText, type Head } from '../../src/durable/head.ts'

const plain: Head = {
  graph: 'g',
  tenant: '',
  thread: 't',
  born: 'b',
  created: 1,
  epoch: 1,
  owner: '',
  run: 'run_1',
  runNumber: 1,
  root: 'run_1',
  metadata: {},
  error: undefined,
  key: undefined,
  redo: undefined,
  updated: 2,
  until: 0,
  status: 'success',
  checkpoint: 'c',
  journal: 'c',
  last: 9,
  seq: 4,
  commits: 3,
  strikes: 0,
  entries: [],
  open: [],
  used: undefined,
  standing: undefined,
}

it('what may be absent is written only when it, or what comes after it, is there', async () => {
  const head = readHead(headText(runText(plain), plain))
  expect(head).toEqual(plain)
  const written = (more: Partial<Head>): string => {
    const whole = { ...head, ...more }
    return headText(runText(whole), whole)
  }
  const used: Head['used'] = [
    [1, 0, 5],
    [2, 0, 9],
  ]
  const standing = [{ tool: 'send', n: 7, approve: false, reason: 'no', at: 1 }]
  const bare = written({ used: undefined, standing: undefined })
  expect(bare.endsWith('null]')).toBe(false)
  for (const more of [{ used }, { standing }, { used, standing }]) {
    const whole = written({ used: undefined, standing: undefined, ...more })
    expect(whole.startsWith(bare.slice(0, -1))).toBe(true)
    const { used: one, standing: other } = readHead(whole)
    expect({ used: one, standing: other }).toEqual({
      used: undefined,
      standing: undefined,
      ...more,
    })
  }
})
