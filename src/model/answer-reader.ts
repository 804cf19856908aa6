import { quietly } from '../lib/quietly.ts'

/** What was said in all: what of the text hasn't been shown yet, or calls. */
export interface Said {
  readonly text: string
  readonly calls: readonly { readonly tool: string; readonly args?: unknown }[]
  /** It came to its end, and is one of the two. */
  readonly whole: boolean
}

const HEAD = /^\s*\{\s*"answer"\s*:\s*"/
/** Longer than any beginning of an answer. */
const HEAD_LENGTH = 64
/** Characters of a JSON string, as far as they are all there. */
const CHARACTERS = /^(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*/
const HIGH_HALF = /[\uD800-\uDBFF]$/

/** Reads `{"answer": …}` or `{"calls": […]}` while it comes. What isn't JSON at all is an answer as it stands. */
export class AnswerReader {
  readonly #isText: boolean
  #raw = ''
  #shown = ''
  /** What of the answer's string hasn't been read yet, once it has begun. */
  #rest: string | undefined
  #plain = false

  /** @param isText The answer is a string; without, it is any JSON and comes at the end */
  constructor(isText: boolean) {
    this.#isText = isText
  }

  /** Takes what comes next; gives what of the answer's text can be shown by now. */
  take(delta: string): string {
    this.#raw += delta
    if (this.#plain) return delta
    if (this.#rest !== undefined) return this.#string(delta)
    if (/^\s*[^\s{]/.test(this.#raw)) {
      this.#plain = true
      return this.#raw
    }
    const head =
      this.#isText && this.#raw.length - delta.length < HEAD_LENGTH && HEAD.exec(this.#raw)
    if (!head) return ''
    this.#rest = ''
    return this.#string(this.#raw.slice(head[0].length))
  }

  /** Nothing more comes. */
  end(): Said {
    if (this.#plain) return { text: '', calls: [], whole: true }
    const { answer, calls } = Object(parsed(this.#raw)) as { answer?: unknown; calls?: unknown }
    if (Array.isArray(calls) && calls.every(isCall))
      return { text: '', calls: calls as Said['calls'], whole: true }
    if (answer === undefined) return { text: '', calls: [], whole: false }
    const text = this.#isText && typeof answer === 'string' ? answer : JSON.stringify(answer)
    return { text: text.slice(this.#shown.length), calls: [], whole: true }
  }

  #string(delta: string): string {
    const rest = this.#rest + delta
    const [ready] = CHARACTERS.exec(rest)!
    this.#rest = rest
    let text = parsed(`"${ready}"`) as string | undefined
    if (text === undefined) return ''
    // Half of a character waits for its other half.
    const half = HIGH_HALF.test(text) ? (/(?:\\u[0-9a-fA-F]{4}|.)$/s.exec(ready)?.[0] ?? '') : ''
    if (half) text = text.slice(0, -1)
    this.#rest = half + rest.slice(ready.length)
    this.#shown += text
    return text
  }
}

const parsed = (text: string): unknown => quietly(() => JSON.parse(text) as unknown)

const isCall = (value: unknown): boolean =>
  typeof (Object(value) as { readonly tool?: unknown }).tool === 'string'
