import type { Chunk, WebLlmEngine } from './engine.ts'

/**
 * The chunks of one generation, until they end or the signal aborts. Whoever stops reading stops the generation: the engine
 * is interrupted once the first chunk says that it is this one that runs, and read to its end, so that it is free again.
 */
export async function* stoppable(
  chunks: AsyncIterable<Chunk>,
  engine: WebLlmEngine,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const iterator = chunks[Symbol.asyncIterator]()
  let next: Promise<IteratorResult<Chunk>> | undefined
  let isOver = false
  let stop: () => void = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
  })
  try {
    for (;;) {
      next = iterator.next()
      const { done, value } = await Promise.race([aborted, next])
      isOver = done === true
      if (isOver) return
      next = undefined
      yield value
    }
  } catch (error) {
    isOver ||= !signal.aborted
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    if (!isOver) drain(iterator, next, engine).catch(() => {})
  }
}

async function drain(
  iterator: AsyncIterator<Chunk>,
  next: Promise<IteratorResult<Chunk>> | undefined,
  engine: WebLlmEngine,
): Promise<void> {
  let isOver = (await next)?.done
  if (!isOver) engine.interruptGenerate()
  while (!isOver) isOver = (await iterator.next()).done
}
