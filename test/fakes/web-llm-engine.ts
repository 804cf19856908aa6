// An engine of WebLLM without the GPU: requests are checked by the package's own checks, and generations are kept and gone on
// with as it documents it.
import { ModelType, postInitAndCheckFieldsChatCompletion } from '@mlc-ai/web-llm'
import type { Chunk, WebLlmEngine } from '../../adapters/web-llm/engine.ts'

/** What the engine was asked, as it took it. */
export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly stream: boolean
  readonly seed?: number
  readonly response_format?: { readonly type: string; readonly schema?: string }
  readonly extra_body?: { readonly resumable?: { enabled: boolean; sessionId: string } }
  readonly [field: string]: unknown
}

export interface FakeEngine extends WebLlmEngine {
  readonly asked: readonly Asked[]
  /** Generations under way: an engine does one at a time. */
  readonly running: number
  readonly interrupted: number
  /** Sessions that are kept. */
  readonly sessions: ReadonlyMap<string, Session>
  /** The page dies: what runs is gone, what is kept stays. */
  crash(): void
}

interface Session {
  readonly request: Asked
  tokens: string[]
  state: 'broken' | 'finished'
}

export interface FakeEngineOptions {
  /** What is said, token by token. */
  readonly tokens: readonly string[] | ((request: Asked) => readonly string[])
  readonly finish?: 'stop' | 'length'
  readonly vision?: boolean
  /** Called before each token. */
  readonly before?: (n: number) => void | Promise<void>
  /** Kept from a page before. */
  readonly sessions?: ReadonlyMap<string, Session>
}

export function fakeEngine(options: FakeEngineOptions): FakeEngine {
  const { finish = 'stop', vision = false, before } = options
  const asked: Asked[] = []
  const sessions = new Map<string, Session>(options.sessions)
  let [running, interrupted, isInterrupted, isDead] = [0, 0, false, false]
  let lock: Promise<void> = Promise.resolve()

  async function* generate(request: Asked, session?: Session): AsyncGenerator<Chunk> {
    const free = lock
    let release: () => void = () => {}
    lock = new Promise((resolve) => (release = resolve))
    await free
    running++
    isInterrupted = false
    const { tokens: say } = options
    const all = typeof say === 'function' ? say(request) : say
    const from = session?.tokens.length ?? 0
    let reason: string = finish
    try {
      for (const [n, token] of all.entries()) {
        if (n < from) continue
        await before?.(n)
        if (isDead) await new Promise(() => {})
        if (isInterrupted) {
          reason = 'abort'
          break
        }
        // A token is kept before it is shown.
        session?.tokens.push(token)
        yield chunkOf(token, null)
      }
      if (session && reason !== 'abort') session.state = 'finished'
      yield chunkOf(undefined, reason)
      const [prompt_tokens, completion_tokens] = [7, all.length - from]
      const total_tokens = prompt_tokens + completion_tokens
      yield { choices: [], usage: { prompt_tokens, completion_tokens, total_tokens } }
    } finally {
      running--
      release()
    }
  }

  const known = (id: string): Session => {
    const session = sessions.get(id)
    if (!session) throw new Error(`Resumable session not found: ${id}`)
    return session
  }

  return {
    asked,
    sessions,
    get running() {
      return running
    },
    get interrupted() {
      return interrupted
    },
    crash: () => void (isDead = true),
    chat: {
      completions: {
        async create(body) {
          const request = structuredClone(body) as object as Asked
          const type = vision ? ModelType.VLM : ModelType.LLM
          postInitAndCheckFieldsChatCompletion(request as never, 'Llama-3.2-1B', type)
          asked.push(request)
          const { enabled, sessionId = '' } = request.extra_body?.resumable ?? {}
          if (!enabled) return generate(request)
          if (request.response_format)
            throw new Error(
              'Resumable generation does not support grammar-constrained response formats.',
            )
          if (request.messages.some(({ content }) => typeof content !== 'string'))
            throw new Error('Resumable generation supports text-only prompts.')
          if (sessions.has(sessionId))
            throw new Error(`Resumable session already exists: ${sessionId}`)
          const session: Session = { request, tokens: [], state: 'broken' }
          sessions.set(sessionId, session)
          return generate(request, session)
        },
      },
    },
    interruptGenerate() {
      interrupted++
      isInterrupted = true
    },
    listResumableSessions: async () =>
      [...sessions].map(([sessionId, { state }]) => ({ sessionId, resumable: state === 'broken' })),
    async resumeChatCompletion(id, { continueGeneration = false, stream = false } = {}) {
      const session = known(id)
      if (!continueGeneration) return { recoveredText: session.tokens.join('') }
      if (session.state === 'finished' || !stream) throw new Error('generation finished')
      return generate(session.request, session)
    },
    deleteResumableSession: async (id) => void sessions.delete(id),
  }
}

function chunkOf(content: string | undefined, finish_reason: string | null): Chunk {
  return { choices: [{ delta: content === undefined ? {} : { content }, finish_reason }] }
}
