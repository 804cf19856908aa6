// An OpenAI-compatible endpoint on loopback that fails as it is told, and repeats in its failures what it was sent.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a key looks like, and a secret that looks like nothing. */
export const KEY = 'sk-canary-93f1c2d4e5'
export const TEAM = 'plum orchard behind the mill'

/** How one request ends. */
export type Ending =
  | 'text'
  | 'call'
  | '401'
  | '429'
  | '500'
  | 'no answer'
  | 'cut off'
  | 'unfinished'
  | 'no JSON'
  | 'error in the stream'
  | 'silence'

/** A server and what came to it. */
export interface Endpoint extends AsyncDisposable {
  readonly url: string
  /** The secrets that came with each request. */
  readonly seen: readonly (readonly [authorization: unknown, team: unknown])[]
  /** Settles once a request hangs. */
  readonly hangs: Promise<void>
}

/**
 * Starts a server.
 *
 * @param endings How requests end, one after the other; the last one stands for all that follow
 */
export async function endpoint(...endings: readonly Ending[]): Promise<Endpoint> {
  const seen: (readonly [unknown, unknown])[] = []
  let hang = (): void => {}
  const hangs = new Promise<void>((resolve) => (hang = resolve))
  const server = createServer((request, response) => {
    const { authorization, 'x-team': team } = request.headers
    seen.push([authorization, team])
    request.resume()
    const ending = endings[Math.min(seen.length, endings.length) - 1]!
    request.on('end', () => void end(ending, request, response, hang))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    hangs,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function end(
  ending: Ending,
  { headers, socket }: IncomingMessage,
  response: ServerResponse,
  hang: () => void,
): void {
  // Everything that came, as careless proxies answer.
  const echo = JSON.stringify(headers)
  const refuse = (status: number, type: string, body: string): void =>
    void response
      .writeHead(status, {
        'content-type': type,
        'x-echo': headers.authorization,
        'retry-after': '1',
      })
      .end(body)
  switch (ending) {
    case '401': {
      const message = `Incorrect API key provided: ${KEY}. You sent ${echo}`
      return refuse(401, 'application/json', JSON.stringify({ error: { message, code: KEY } }))
    }
    case '429':
      return refuse(429, 'text/plain', `Slow down, ${headers.authorization} of ${TEAM}`)
    case '500':
      return refuse(500, 'text/html', `<h1>Bad gateway</h1><pre>${echo} ${KEY}</pre>`)
    case 'no answer':
      return void socket.destroy()
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (what: object | string): void =>
    void response.write(`data: ${typeof what === 'string' ? what : JSON.stringify(what)}\n\n`)
  const choose = (delta: object, finish_reason: string | null = null): void =>
    say({ choices: [{ index: 0, delta, finish_reason }] })
  const finish = (reason: string): void => {
    choose({}, reason)
    say({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } })
    say('[DONE]')
    response.end()
  }
  if (ending === 'call') {
    const call = { name: 'note', arguments: '{"text":"hello"}' }
    choose({
      role: 'assistant',
      tool_calls: [{ index: 0, id: 'c1', type: 'function', function: call }],
    })
    return finish('tool_calls')
  }
  choose({ role: 'assistant', content: 'Once upon ' })
  if (ending === 'text') {
    choose({ content: 'a time.' })
    return finish('stop')
  }
  if (ending === 'silence') return hang()
  if (ending === 'unfinished') return void response.end()
  if (ending === 'cut off') return void response.write('data: {"cho', () => socket.destroy())
  if (ending === 'no JSON') say(`{"choices": ${KEY} ${TEAM}`)
  else say({ error: { message: `Cannot bill ${headers.authorization} (${TEAM})`, code: 402 } })
  response.end()
}
