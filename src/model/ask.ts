import type { Schema } from '../schema.ts'
import type { Tool } from '../tool/tool.ts'
import type { Message, NewMessage } from './message.ts'
import type { ModelEvent, ModelRequest } from './model.ts'

/** What `ctx.generate` asks for. */
export interface Generate<Output = undefined> extends Omit<
  ModelRequest,
  'messages' | 'tools' | 'output'
> {
  readonly messages: string | readonly (Message | NewMessage)[]
  readonly tools?: readonly Tool[]
  /** Asks for this shape and checks the answer; one repair is tried. */
  readonly output?: Schema<any, Output>
  /** Sees text as it comes; usually hands it to `ctx.emit`. Awaited, so a slow reader slows the model. */
  readonly onEvent?: (event: ModelEvent) => void | Promise<void>
  /** @default false */
  readonly cache?: boolean
  /** Milliseconds. @default none */
  readonly timeout?: number
}
