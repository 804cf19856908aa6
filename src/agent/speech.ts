import type { ModelEvent, Reply } from '../model/model.ts'
import type { AgentEvent } from './event.ts'

/** Tells of one message while the model makes it. */
export interface Speech {
  /** The id that the message has in the history. */
  readonly id: string
  /** What comes from here on is another message: nobody keeps the one before. */
  anew(): void
  hear(event: ModelEvent): Promise<void> | undefined
  /** Tells of its calls, which count from here on, and that it is whole. */
  end(reply: Reply<unknown>): Promise<void>
}

/**
 * Begins to tell of a message.
 *
 * @param emit Settles when whoever watches has room: so long the model waits
 */
export function speak(emit: (event: AgentEvent) => Promise<void>, newId: () => string): Speech {
  let id = newId()
  let spoken = false
  const say = (kind: 'text' | 'reasoning', delta: string): Promise<void> => {
    spoken ||= kind === 'text'
    return emit({ kind, message: id, delta })
  }
  return {
    get id() {
      return id
    },
    anew() {
      id = newId()
      spoken = false
    },
    hear(event) {
      return event.kind === 'text' || event.kind === 'reasoning'
        ? say(event.kind, event.delta)
        : undefined
    },
    async end({ text, calls, finish, usage }) {
      // It came whole: from a cache, or from a hook.
      if (!spoken && text !== '') await say('text', text)
      for (const { id: call, tool, args } of calls)
        await emit({ kind: 'tool_call', call, tool, args })
      await emit({ kind: 'message', message: id, finish, usage })
    },
  }
}
