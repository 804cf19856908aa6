import type { INSIDE } from '../hook/mark.ts'
import type { LLMInvocation } from '../hook/hook.ts'
import type { InputInside, Phase } from '../tool/inside.ts'
import type { TokenUsage } from '../usage.ts'
import type { ModelRequest, Reply } from './model.ts'

/** What the context of one request to a model has inside. */
export interface RequestInside extends InputInside {
  /** Who makes calls through the context now: hooks before the request, or after it. What they ask and store is kept apart. */
  phase: Phase
  /** Our id of the request, the same on re-entry: `call_…`. */
  readonly id: string
  readonly tenant: string | undefined
  /** The model answered before a pause or a crash, and the hooks after it may not have run: its reply. */
  readonly ran: Reply<unknown> | undefined
  /** The request is about to be sent: from here on it counts. */
  begin(request: ModelRequest): Promise<void>
  /** Stores that the model answered. */
  keep(reply: Reply<unknown>): Promise<void>
  /** The model is done, failed, or was stopped: what it had reported by then. Called before anybody hears of it. */
  spent(usage: TokenUsage): void
  /** The model failed: it may be made good. */
  failed(error: unknown): void
  /** Tells when hooks first wait for a person or a clock; the request may never go on in this process. */
  onPause(call: () => void): void
}

/** The context of one request to a model. */
export type RequestContext = LLMInvocation['ctx'] & { readonly [INSIDE]: RequestInside }
