/** The part of a WebLLM engine that is used: `MLCEngine`, `WebWorkerMLCEngine` and `ServiceWorkerMLCEngine` have it. */
export interface WebLlmEngine {
  readonly chat: {
    readonly completions: {
      create(request: Body): Promise<AsyncIterable<Chunk>>
    }
  }
  interruptGenerate(): void
  listResumableSessions?(): Promise<
    readonly { readonly sessionId: string; readonly resumable: boolean }[]
  >
  resumeChatCompletion?(
    session: string,
    options?: { continueGeneration?: boolean; stream?: boolean },
  ): Promise<{ readonly recoveredText: string } | AsyncIterable<Chunk>>
  deleteResumableSession?(session: string): Promise<void>
}

/** A request, as `chat.completions` takes it. */
export interface Body {
  readonly stream: true
  /** WebLLM has types for them; `never` fits all. */
  readonly messages: never[]
}

/** A piece of an answer. The last has no choices, and the usage. */
export interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null }
    readonly finish_reason: string | null
  }[]
  readonly usage?: Usage | null
}

export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}
