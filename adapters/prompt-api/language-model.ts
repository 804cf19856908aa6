/** Whether the browser has a model: now, after a download, or not at all. */
export type PromptApiAvailability = 'available' | 'downloadable' | 'downloading' | 'unavailable'

/** The part of the browser's `LanguageModel` that is used. */
export interface LanguageModels {
  availability(): Promise<PromptApiAvailability>
  create(options: SessionOptions): Promise<Session>
  /** In extensions only. */
  params?(): Promise<{
    readonly defaultTemperature: number
    readonly defaultTopK: number
  } | null>
}

export interface SessionOptions {
  readonly initialPrompts: Prompt[]
  readonly expectedInputs?: { readonly type: Part['type'] }[]
  readonly temperature?: number
  readonly topK?: number
  readonly signal: AbortSignal
  readonly monitor: (monitor: EventTarget) => void
}

/** One conversation. It can't be stored. */
export interface Session extends EventTarget {
  /** Tokens: what came in, and what was answered. */
  readonly contextUsage?: number
  readonly contextWindow?: number
  measureContextUsage?(input: Said[], options: PromptOptions): Promise<number>
  promptStreaming(input: Said[], options: PromptOptions): ReadableStream<string>
  destroy(): void
}

export interface PromptOptions {
  readonly responseConstraint?: { readonly [keyword: string]: unknown }
  readonly signal: AbortSignal
}

export interface Said {
  readonly role: 'user' | 'assistant'
  readonly content: string | Part[]
}

/** The system speaks first only. */
export type Prompt = Said | { readonly role: 'system'; readonly content: string }

export interface Part {
  readonly type: 'text' | 'image' | 'audio'
  readonly value: string | Blob
}

/** What the browser has to make sessions with; nothing where it has no model, and outside of browsers. */
export const languageModels = (): LanguageModels | undefined =>
  (globalThis as { readonly LanguageModel?: LanguageModels }).LanguageModel
