// examples/agent.ts on a server of one's own: one environment variable, and the small model is out.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

interface Asked {
  readonly model: string
  readonly stream: boolean
  readonly tools: readonly { readonly function: { readonly name: string } }[]
  readonly messages: readonly {
    readonly role: string
    readonly content?: string
    readonly tool_calls?: readonly { readonly function: { readonly name: string } }[]
  }[]
}

it('agent.ts runs on any OpenAI-compatible URL, with the key of the environment', async () => {
  const asked: { readonly path: string; readonly key: string; readonly body: Asked }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const body = JSON.parse(text) as Asked
    asked.push({ path: request.url!, key: String(request.headers.authorization), body })
    response.setHeader('content-type', 'text/event-stream')
    for (const chunk of answer(body)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    const { port } = server.address() as AddressInfo
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['scripts/run.mjs', 'examples/agent.ts'],
      {
        env: {
          ...process.env,
          HEDDLE_MODEL_URL: `http://127.0.0.1:${port}/v1`,
          HEDDLE_MODEL: 'tiny',
          HEDDLE_MODEL_KEY: 'k-1',
        },
      },
    )
    expect(stderr).toBe('')
    expect(stdout).not.toContain('k-1')
    expect(stdout).toContain('support: Order 1042: delivered')
    expect(stdout).toContain('  desk: no to refund of order 1044\n')
    expect(stdout).toMatch(/paid back: \[ 59\.9, 34\.5 \]\n$/)
  } finally {
    server.closeAllConnections()
    server.close()
  }
  expect(new Set(asked.map(({ path, key }) => `${path} ${key}`))).toEqual(
    new Set(['/v1/chat/completions Bearer k-1']),
  )
  for (const { body } of asked) {
    expect(body).toMatchObject({ model: 'tiny', stream: true })
    expect(body.tools.map((one) => one.function.name)).toEqual(['find_order', 'refund'])
    expect(body.messages[0]).toMatchObject({ role: 'system' })
  }
})

/** What a model would say, in chunks: it looks the order up, asks for the money where it is wanted, and tells how it went. */
function answer({ messages }: Asked): readonly object[] {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const said = messages[at]!.content!
  const results = messages.slice(at).filter(({ role }) => role === 'tool')
  const order = /\d+/.exec(said)?.[0] ?? '1042'
  const found = results[0] && (JSON.parse(results[0].content!) as { total: number; state: string })
  const call = (name: string, args: object): readonly object[] => {
    // The arguments come in two pieces, as they do.
    const text = JSON.stringify(args)
    const piece = (rest: object): object => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...rest }] }, finish_reason: null }],
    })
    return [
      piece({ id: 'c', type: 'function', function: { name, arguments: text.slice(0, 5) } }),
      piece({ function: { arguments: text.slice(5) } }),
      end('tool_calls'),
    ]
  }
  if (!found) return call('find_order', { order })
  const wanted = /money|refund/.test(said)
  if (wanted && results.length === 1) return call('refund', { order, amount: found.total })
  const words = wanted ? results[1]!.content! : `Order ${order}: ${found.state}`
  return [...words]
    .map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
    .concat(end('stop') as never)
}

function end(reason: string): object {
  return {
    choices: [{ index: 0, delta: {}, finish_reason: reason }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  }
}
