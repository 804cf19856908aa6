import { ModelError, modelError, toolsByOutput } from '../src/index.ts'
import type { Model, ModelEvent, ModelRequest, TokenUsage } from '../src/index.ts'
import { languageModels } from './prompt-api/language-model.ts'
import type {
  LanguageModels,
  PromptApiAvailability,
  PromptOptions,
  Said,
  Session,
} from './prompt-api/language-model.ts'
import { Progress } from './prompt-api/progress.ts'
import { kindsOf, promptsOf, Shortcoming } from './prompt-api/prompts.ts'

export type { PromptApiAvailability }

/** How the browser's model is asked. */
export interface PromptApiOptions {
  /** What a request says goes before it. Browsers heed it in extensions only. */
  readonly temperature?: number
  /** As above. */
  readonly topK?: number
  /** Told how much of the model is there, from 0 to 1. The first download may need a click. */
  readonly onDownload?: (loaded: number) => void
}

const NAME = { provider: 'browser', model: 'prompt-api' } as const

/** Whether the browser has a model: now, after a download, or not at all. `unavailable` outside of browsers. */
export async function promptApiAvailability(): Promise<PromptApiAvailability> {
  return (await languageModels()?.availability()) ?? 'unavailable'
}

/**
 * The browser's built-in model. Each request has a session of its own, made from the messages and destroyed with it. Tools
 * never reach the browser: it answers by a response constraint with calls, which run like those of any model.
 *
 * A request fails with ModelError: where there is no model, when a download needs a click, when the conversation is longer
 * than the model's window. `maxTokens`, `stop` and `seed` have no counterpart and aren't heeded; `extra` goes to `create`.
 *
 * @throws {TypeError} An option that isn't known, or a wrong one
 */
export function promptApi(options: PromptApiOptions = {}): Model {
  const { temperature, topK, onDownload, ...more } = options
  for (const name of Object.keys(more))
    throw new TypeError(`Cannot use the Prompt API: "${name}" is not known here`)
  for (const [name, value] of Object.entries({ temperature, topK }))
    if (value !== undefined && typeof value !== 'number')
      throw new TypeError(`Cannot use the Prompt API: ${name} is not a number`)
  if (onDownload !== undefined && typeof onDownload !== 'function')
    throw new TypeError('Cannot use the Prompt API: onDownload is not a function')
  return toolsByOutput({
    ...NAME,
    async *stream(request, { signal }) {
      signal.throwIfAborted()
      try {
        yield* converse(request, options, signal)
      } catch (error) {
        signal.throwIfAborted()
        throw failure(error)
      }
    },
  })
}

async function* converse(
  request: ModelRequest,
  options: PromptApiOptions,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const api = languageModels()
  if (!api) throw new Shortcoming('there is none here')
  const prompts = await promptsOf(request, signal)
  const end = prompts.at(-1)
  const last: Said[] = [end?.role === 'user' ? end : { role: 'user', content: '' }]
  if (end === last[0]) prompts.pop()
  const kinds = kindsOf([...prompts, ...last])
  const { tools: _, ...extra } = request.extra ?? {}
  const progress = new Progress(options.onDownload)
  const creating = api.create({
    ...extra,
    ...(await sampling(api, request.temperature ?? options.temperature, options.topK)),
    ...(kinds.length > 0 && {
      expectedInputs: ['text' as const, ...kinds].map((type) => ({ type })),
    }),
    initialPrompts: prompts,
    signal,
    monitor: (monitor) => progress.watch(monitor),
  })
  try {
    yield* progress.until(creating)
    const { output } = request
    yield* answer(await creating, last, { signal, ...(output && { responseConstraint: output }) })
  } finally {
    creating.then((session) => session.destroy()).catch(() => {})
  }
}

/** Both or neither are asked for: the browser says what it would have taken. */
async function sampling(
  api: LanguageModels,
  temperature: number | undefined,
  topK: number | undefined,
): Promise<{ readonly temperature?: number; readonly topK?: number }> {
  if (temperature === undefined && topK === undefined) return {}
  const usual = await api.params?.()
  const both = {
    temperature: temperature ?? usual?.defaultTemperature,
    topK: topK ?? usual?.defaultTopK,
  }
  return Object.fromEntries(Object.entries(both).filter(([, value]) => value !== undefined))
}

async function* answer(
  session: Session,
  last: Said[],
  options: PromptOptions,
): AsyncGenerator<ModelEvent> {
  const before = session.contextUsage
  let dropped = false
  // The browser would drop what was said first, and answer as if nothing were missing.
  session.addEventListener('contextoverflow', () => (dropped = true))
  const reader = session.promptStreaming(last, options).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (dropped)
        throw new Shortcoming(`the conversation is longer than ${session.contextWindow} tokens`)
      if (done) break
      yield { kind: 'text', delta: value }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
  const usage = await usageOf(session, before, last, options)
  yield { kind: 'finish', reason: 'stop', ...(usage && { usage }) }
}

/** What the session has used; what came in only where the browser can measure it. */
async function usageOf(
  session: Session,
  before: number | undefined,
  last: Said[],
  options: PromptOptions,
): Promise<TokenUsage | undefined> {
  const total = session.contextUsage
  if (total === undefined) return undefined
  const asked = await session.measureContextUsage?.(last, options).catch(() => undefined)
  if (before === undefined || asked === undefined) return { total }
  const input = Math.min(total, before + asked)
  return { input, output: total - input, total }
}

function failure(error: unknown): Error {
  const { name, requested, quota } = Object(error) as Error & {
    readonly requested?: number
    readonly quota?: number
  }
  const known: { readonly [name: string]: string } = {
    NotAllowedError: "it isn't allowed here, or its download has to begin with a click",
    NotSupportedError: 'it is not available here, or not for such a request',
    QuotaExceededError: `the conversation is ${requested} tokens long, and there is room for ${quota}`,
  }
  const why = error instanceof Shortcoming ? error.message : known[name]
  if (why === undefined) return modelError(NAME, { said: error })
  return new ModelError(`Cannot ask model "browser/prompt-api": ${why}`, NAME, { cause: error })
}
