import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { append, merge, reduced, sum } from '../../src/graph/state.ts'
import { plan } from '../../src/graph/plan.ts'
import { question } from '../../src/graph/question.ts'
import { subgraph } from '../../src/graph/subgraph.ts'
import { each, type Graph } from '../../src/graph/graph.ts'
import { field } from '../../src/schema.ts'

describe('a planned graph', () => {
  it('keeps nodes and fields in the order in which they are declared', () => {
    const made = plan(triage)
    expect([...made.nodes.values()].map(({ name, order }) => [name, order])).toEqual([
      ['read', 0],
      ['ask', 1],
      ['scan', 2],
      ['close', 3],
    ])
    expect(made.fields.map(({ name }) => name)).toEqual(['ticket', 'files', 'notes'])
    expect([...made.index]).toEqual([
      ['ticket', 0],
      ['files', 1],
      ['notes', 2],
    ])
  })

  it('is made once', () => {
    expect(plan(triage)).toBe(plan(triage))
    expect(plan(triage).graph).toBe(triage)
    expect(plan({ ...triage })).not.toBe(plan(triage))
  })

  it('knows where fixed edges lead and whom to ask about the others', () => {
    const { start, nodes } = plan(triage)
    expect(start.fixed).toEqual([nodes.get('read')])
    expect(nodes.get('read')?.edge.pick).toBe(triage.edges.read)
    expect(nodes.get('ask')?.edge.fixed).toEqual([nodes.get('close')])
    expect(nodes.get('close')?.edge.fixed).toEqual([])
  })

  it('keeps what a router may pick, where it is declared', () => {
    const pick = (): string => 'a'
    const made = plan(one({}, { start: { to: ['a', 'end'], pick }, a: pick }))
    expect(made.start).toEqual({ pick, to: ['a', 'end'] })
    expect(made.nodes.get('a')?.edge).toEqual({ pick, to: undefined })
  })

  it('fills in the defaults of a retry', () => {
    expect(retryOf({ attempts: 3 })).toEqual({
      attempts: 3,
      delay: 500,
      factor: 2,
      maxDelay: 30_000,
      jitter: 0.2,
    })
  })

  it('keeps what a retry says, zeros included', () => {
    const given = { attempts: 1, delay: 0, factor: 1, maxDelay: 0, jitter: 0, when: () => true }
    expect(retryOf(given)).toEqual(given)
    expect(retryOf({ attempts: 2, delay: undefined })).toMatchObject({ delay: 500 })
  })

  it('keeps what a cache says', () => {
    const cache = { scope: 'run', ttl: 2e12, key: () => 1 }
    expect(plan(one({ run, cache })).nodes.get('a')).toMatchObject({ cache })
  })

  it('takes a setting that is undefined for one that is left out', () => {
    const settings = {
      item: undefined,
      after: undefined,
      timeout: undefined,
      retry: undefined,
      cache: undefined,
    }
    const node = plan(one({ run, ...settings, graph: undefined })).nodes.get('a')
    expect(node).toMatchObject({ ...settings, child: undefined })
  })

  it('says how each field takes an update', () => {
    const list = z.array(z.string())
    const { fields } = plan({
      ...one(run),
      state: {
        plain: list,
        list: reduced(list, append),
        merged: reduced(z.record(z.string(), z.number()), merge),
        summed: reduced(z.number(), sum),
        custom: reduced(list, (current, update: string[]) => [...current, ...update]),
      },
    })
    expect(fields.map(({ kind }) => kind)).toEqual([
      'plain',
      'list',
      'reduced',
      'reduced',
      'custom',
    ])
    expect(fields.map(({ reduce }) => reduce)).toMatchObject([undefined, append, merge, sum, {}])
  })

  it('validates as the schema does, also one that needs its own `this`', () => {
    class Word {
      readonly version = 1
      readonly vendor = 'test'
      readonly word = 'yes'
      validate(value: unknown): object {
        return value === this.word ? { value } : { issues: [{ message: `Not ${this.word}` }] }
      }
    }
    const word = { '~standard': new Word() }
    const made = plan({ ...one({ run, item: word }), state: { word } } as unknown as Graph)
    expect(made.fields[0]?.validate('yes')).toEqual({ value: 'yes' })
    expect(made.nodes.get('a')?.item?.('no')).toEqual({ issues: [{ message: 'Not yes' }] })
  })

  it('has the questions of the graph by key', () => {
    const ok = question({ key: 'ok', answer: z.boolean() })
    const why = question({ key: 'why', answer: z.string() })
    expect([...plan({ ...one(run), questions: [ok, why] }).questions]).toEqual([
      ['ok', ok],
      ['why', why],
    ])
    expect(plan(one(run)).questions.size).toBe(0)
  })

  it('knows the graph inside a node', () => {
    const node = subgraph(triage, { input: () => ({ ticket: '' }), output: () => ({}) })
    expect(plan(one(node)).nodes.get('a')?.child).toBe(triage)
  })

  it('lets "end" stand among other names', () => {
    const { start, nodes } = plan(one(run, { start: ['a', 'end', 'a'], a: 'end' }))
    expect(start.fixed).toEqual([nodes.get('a')])
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', 'a b', '"', 'é', '😀'])(
    'takes %j for an ordinary name of a node and of a field',
    (name) => {
      const made = plan({
        name,
        state: { [name]: field(1) },
        nodes: { [name]: run },
        edges: { start: name, [name]: 'end' },
      })
      expect([...made.nodes.keys()]).toEqual([name])
      expect(made.start.fixed).toEqual([made.nodes.get(name)])
      expect(made.fields[0]?.name).toBe(name)
      expect(made.index.get(name)).toBe(0)
    },
  )
})

const run = (): void => {}

const triage = {
  name: 'triage',
  state: {
    ticket: z.string(),
    files: z.array(z.string()).default([]),
    notes: reduced(z.array(z.string()).default([]), append),
  },
  nodes: {
    read: run,
    ask: run,
    scan: { item: z.object({ file: z.string() }), run, timeout: 10_000, retry: { attempts: 3 } },
    close: { run, after: ['ask', 'scan'] },
  },
  edges: {
    start: 'read',
    read: ({ files }: { files: string[] }) => ['ask', each('scan', files)],
    ask: 'close',
    scan: 'close',
    close: 'end',
  },
} satisfies Graph

/** A graph of one node. */
function one(node: unknown, edges: object = { start: 'a', a: 'end' }): Graph {
  const a = typeof node === 'object' ? { run, ...node } : node
  return { name: 'one', state: {}, nodes: { a }, edges } as unknown as Graph
}

function retryOf(retry: object): unknown {
  return plan(one({ retry })).nodes.get('a')?.retry
}
