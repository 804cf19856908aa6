// The browser's `LanguageModel`, as Chrome has it, with a script for a model. test/types holds what it has in common with
// the browser's against the published types.
import { Validator, type Schema } from '@cfworker/json-schema'
import type {
  LanguageModels,
  Prompt,
  PromptApiAvailability,
  PromptOptions,
  Said,
  Session,
  SessionOptions,
} from '../../adapters/prompt-api/language-model.ts'

/** What the model says to a prompt: pieces, as they stream. */
export type Script = (
  said: readonly Prompt[],
  options: PromptOptions,
) => readonly string[] | AsyncIterable<string>

export interface FakeOptions {
  readonly availability?: PromptApiAvailability
  /** Whether somebody has just clicked. */
  readonly activated?: boolean
  /** How the download goes, from 0 to 1. */
  readonly progress?: readonly number[]
  /** Tokens; a word is one. */
  readonly window?: number
  /** It is an extension's: sampling counts there. */
  readonly extension?: boolean
  /** Can't measure. */
  readonly blind?: boolean
}

/** What it was asked, and what became of its sessions. */
export interface FakeLanguageModel extends LanguageModels {
  readonly created: readonly SessionOptions[]
  readonly prompted: readonly { readonly input: Said[]; readonly options: PromptOptions }[]
  /** Sessions that nobody has destroyed. */
  readonly alive: number
}

/** Makes one. */
export function fakeLanguageModel(script: Script, fake: FakeOptions = {}): FakeLanguageModel {
  const { availability = 'available', activated = false, progress = [0, 1], window = 100 } = fake
  const created: SessionOptions[] = []
  const prompted: { input: Said[]; options: PromptOptions }[] = []
  const alive = new Set<Session>()

  class FakeSession extends EventTarget implements Session {
    readonly contextWindow = window
    readonly #kinds: readonly string[]
    #said: readonly Prompt[]
    #end = new AbortController()

    constructor({ initialPrompts, expectedInputs = [] }: SessionOptions) {
      super()
      this.#said = initialPrompts
      this.#kinds = ['text', ...expectedInputs.map(({ type }) => type)]
      if (fake.blind) this.measureContextUsage = undefined as never
      alive.add(this)
    }

    get contextUsage(): number {
      return tokensOf(this.#said)
    }

    async measureContextUsage(input: Said[]): Promise<number> {
      this.#check(input)
      return tokensOf(input)
    }

    promptStreaming(input: Said[], options: PromptOptions): ReadableStream<string> {
      prompted.push({ input, options })
      const { signal, responseConstraint } = options
      let pieces: AsyncIterator<string> | Iterator<string>
      let text = ''
      return new ReadableStream<string>(
        {
          start: async (stream) => {
            signal.throwIfAborted()
            this.#check(input)
            for (const one of [signal, this.#end.signal])
              one.addEventListener('abort', () => stream.error(one.reason))
            if (tokensOf(input) > window) throw new Quota(tokensOf(input), window)
            this.#take(input)
            const said = script(this.#said, options)
            pieces =
              Symbol.iterator in said ? said[Symbol.iterator]() : said[Symbol.asyncIterator]()
          },
          pull: async (stream) => {
            const { done, value } = await pieces.next()
            if (signal.aborted || this.#end.signal.aborted) return
            if (!done) {
              text += value
              return stream.enqueue(value)
            }
            if (responseConstraint && !holds(responseConstraint, text))
              throw new Error(`The script breaks the constraint: ${text}`)
            this.#take([{ role: 'assistant', content: text }])
            stream.close()
          },
        },
        { highWaterMark: 0 },
      )
    }

    destroy(): undefined {
      alive.delete(this)
      this.#end.abort(new DOMException('The session was destroyed', 'AbortError'))
    }

    #check(input: readonly Prompt[]): void {
      if (this.#end.signal.aborted)
        throw new DOMException('The session was destroyed', 'InvalidStateError')
      if (input.some(({ role }) => !['user', 'assistant'].includes(role)))
        throw new TypeError('The system speaks first only')
      if (kindsIn(input).some((kind) => !this.#kinds.includes(kind)))
        throw new DOMException('The input is of no expected type', 'NotSupportedError')
    }

    /** What is too much pushes out what was said first, but not the system's word. */
    #take(more: readonly Prompt[]): void {
      const all = [...this.#said, ...more]
      const system = all[0]?.role === 'system' ? 1 : 0
      let dropped = false
      for (; tokensOf(all) > window && all.length > system + 1; dropped = true)
        all.splice(system, 1)
      this.#said = all
      if (dropped) this.dispatchEvent(new Event('contextoverflow'))
    }
  }

  return {
    created,
    prompted,
    get alive() {
      return alive.size
    },
    ...(fake.extension && {
      params: async () => ({ defaultTemperature: 1, defaultTopK: 3 }),
    }),
    availability: async () => availability,
    async create(options) {
      created.push(options)
      const { initialPrompts, expectedInputs = [], signal, monitor, temperature, topK } = options
      signal.throwIfAborted()
      if (initialPrompts.findLastIndex(({ role }) => role === 'system') > 0)
        throw new TypeError('The system speaks first only')
      if (availability === 'unavailable')
        throw new DOMException('There is no model', 'NotSupportedError')
      if (availability !== 'available' && !activated)
        throw new DOMException('Nobody has clicked', 'NotAllowedError')
      if (fake.extension && (temperature === undefined) !== (topK === undefined))
        throw new DOMException('Both or neither', 'NotSupportedError')
      if (kindsIn(initialPrompts).some((kind) => !expectedInputs.some(({ type }) => type === kind)))
        throw new DOMException('The input is of no expected type', 'NotSupportedError')
      const target = new EventTarget()
      monitor(target)
      for (const loaded of progress) {
        await Promise.resolve()
        const event = Object.assign(new Event('downloadprogress'), { loaded, total: 1 })
        target.dispatchEvent(event)
      }
      signal.throwIfAborted()
      if (tokensOf(initialPrompts) > window) throw new Quota(tokensOf(initialPrompts), window)
      return new FakeSession(options)
    },
  }
}

/** What is more than the window takes. */
class Quota extends Error {
  override readonly name = 'QuotaExceededError'
  readonly requested: number
  readonly quota: number

  constructor(requested: number, quota: number) {
    super('The input is too large')
    this.requested = requested
    this.quota = quota
  }
}

/** Runs work where the page has this model, or none. */
export async function having<Value>(
  model: LanguageModels | undefined,
  work: () => Promise<Value>,
): Promise<Value> {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'LanguageModel')
  const value = { value: model, configurable: true, writable: true }
  Object.defineProperty(globalThis, 'LanguageModel', value)
  try {
    return await work()
  } finally {
    if (before) Object.defineProperty(globalThis, 'LanguageModel', before)
    else Reflect.deleteProperty(globalThis, 'LanguageModel')
  }
}

function kindsIn(prompts: readonly Prompt[]): string[] {
  return prompts
    .flatMap(({ content }) =>
      typeof content === 'string' ? ['text'] : content.map(({ type }) => type),
    )
    .filter((kind) => kind !== 'text')
}

function tokensOf(prompts: readonly Prompt[]): number {
  const words = prompts.flatMap(({ content }) =>
    typeof content === 'string'
      ? content.split(/\s+/)
      : content.flatMap(({ value }) =>
          typeof value === 'string' ? value.split(/\s+/) : ['image'],
        ),
  )
  return words.filter(Boolean).length
}

function holds(schema: object, text: string): boolean {
  return new Validator(schema as Schema, '2020-12').validate(JSON.parse(text)).valid
}
