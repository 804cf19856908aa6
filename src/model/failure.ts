import { ModelError } from '../errors.ts'
import { systemClock } from '../lib/clock.ts'
import { tidy } from '../lib/tidy.ts'
import type { Model } from './model.ts'

/** What is known of a request that failed. */
export interface ModelFailure {
  /** Of HTTP. */
  readonly status?: number | undefined
  /** Of the response. Only `retry-after`, `retry-after-ms` and `date` are read. */
  readonly headers?: { get(name: string): string | null } | undefined
  /** The words for it: a text, an error, or what a body of JSON came to. */
  readonly said?: unknown
  /** Texts that may not show, whoever said them: keys, headers. */
  readonly secrets?: readonly string[]
}

const LONGEST_WORDS = 300
/** What is looked at of a page of HTML that stands in for an answer. */
const LONGEST_PAGE = 4000

/** Opaque texts: what stands after "Bearer", what a URL calls a key, what begins like a key, what is too long for a word. */
const KEYS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 …'],
  [/([?&][\w-]*(?:key|token|secret|sig|signature|auth|password)=)[^&\s"']+/gi, '$1…'],
  [/\b(?:(?:sk|pk|rk|gsk|xai|hf|fw|nvapi|pplx|ghp)[-_]|AIza)[\w*.-]{6,}[\w*]/g, '…'],
  [/(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{32,}/gi, '…'],
]

/**
 * Makes the error of a request that a model's provider failed. The provider's words are clipped, and what looks like a
 * key is left out of them; nothing else of the request or the response gets into it.
 */
export function modelError(
  { provider, model }: Pick<Model, 'provider' | 'model'>,
  { status, headers, said, secrets = [] }: ModelFailure,
): ModelError {
  const told = wordsOf(said)
  const words = told && `"${clip(redact(told, secrets))}"`
  const answered = status === undefined ? undefined : `its provider answered ${status}`
  const what = [answered, words].filter(Boolean).join(', ') || 'it failed, and does not say why'
  return new ModelError(
    `Cannot ask model "${provider}/${model}": ${what}`,
    tidy({ provider, model, status, retryAfterMs: headers && retryAfter(headers) }),
  )
}

/** The words in whatever was said; empty if there are none. */
function wordsOf(said: unknown, depth = 0): string {
  if (typeof said === 'string') return plain(said.slice(0, LONGEST_PAGE))
  if (typeof said !== 'object' || said === null || depth > 3) return ''
  if (Array.isArray(said)) return wordsOf(said[0], depth + 1)
  const { message, error, detail, msg, code, cause } = said as Record<string, unknown>
  const places = [message, error, detail, msg, code]
  const words = places.map((one) => wordsOf(one, depth + 1)).find(Boolean) ?? ''
  // "fetch failed" alone says nothing.
  const why = said instanceof Error ? wordsOf(cause, depth + 1) : ''
  return why && !words.includes(why) ? `${words} (${why})` : words
}

/** A page of HTML as its text, everything on one line. */
function plain(text: string): string {
  const bare = /^\s*</.test(text)
    ? text.replaceAll(/<(style|script)\b[^]*?<\/\1>|<[^>]*>/gi, ' ')
    : text
  return bare.replaceAll(/\s+/g, ' ').trim()
}

function redact(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter((secret) => secret.length >= 4)
    .toSorted((a, b) => b.length - a.length)
    .reduce((words, secret) => words.replaceAll(secret, '…'), text)
  return KEYS.reduce((words, [key, instead]) => words.replaceAll(key, instead), known)
}

function clip(text: string): string {
  if (text.length <= LONGEST_WORDS) return text
  return `${text.slice(0, LONGEST_WORDS).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Milliseconds to wait for, from now on; a date is held against the server's own clock if it tells it. */
function retryAfter(headers: { get(name: string): string | null }): number | undefined {
  const ms = figure(headers.get('retry-after-ms'))
  if (ms !== undefined) return ms
  const after = headers.get('retry-after')
  const seconds = figure(after)
  if (seconds !== undefined) return Math.round(seconds * 1000)
  // V8 makes a date of almost anything, "-1" included.
  const until = after?.includes(':') ? Date.parse(after) : NaN
  if (Number.isNaN(until)) return undefined
  const sent = Date.parse(headers.get('date') ?? '')
  return Math.max(0, until - (Number.isNaN(sent) ? systemClock.now() : sent))
}

function figure(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
