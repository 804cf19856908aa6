import type { Interruption } from '../durable/records.ts'
import type { Schema } from '../schema.ts'

/** A question a node may ask, known on both sides: the node that asks it and the page that answers it. */
export interface Question<Payload = unknown, Answer = unknown> {
  readonly key: string
  readonly payload?: Schema<any, Payload>
  /** What an answer must look like. */
  readonly schema: Schema<any, Answer>
  /** Whether an interruption asks this question; types its payload. */
  is(interruption: Interruption): interruption is Interruption<Payload>
  /** The `answers` for one interruption, typed. `TypeError` without one. */
  reply(interruption: Interruption, answer: Answer): { readonly [id: string]: Answer }
}

/**
 * Declares a question. `ctx.interrupt(payload, question)` asks it.
 *
 * @param spec Its key, which names it in records; what is asked with; what an answer must look like
 */
export function question<Payload, Answer>(spec: {
  readonly key: string
  readonly payload?: Schema<any, Payload>
  readonly answer: Schema<any, Answer>
}): Question<Payload, Answer> {
  const { key, payload, answer: schema } = spec
  if (typeof key !== 'string' || key === '') {
    throw new TypeError('Cannot declare a question: its key is not a non-empty string')
  }
  if (!schema?.['~standard']) {
    throw new TypeError(`Cannot declare question "${key}": its answer is not a schema`)
  }
  return {
    key,
    ...(payload && { payload }),
    schema,
    is: (interruption): interruption is Interruption<Payload> => interruption.key === key,
    reply(interruption, answer) {
      if (typeof interruption?.id !== 'string')
        throw new TypeError('Cannot reply: there is no interruption')
      return { [interruption.id]: answer }
    },
  }
}
