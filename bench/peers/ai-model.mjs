// A fake model of the AI SDK, for itself and for Mastra: it asks for the tool so many times, then says it is done.
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/**
 * @param {{ Model: Function, toStream: (parts: object[]) => ReadableStream }} parts Of `ai/test`
 * @param {number} turns
 */
export function fakeModel({ Model, toStream }, turns) {
  const reply = (prompt) => {
    const k = prompt.filter(({ role }) => role === 'tool').length
    if (k === turns)
      return {
        content: { type: 'text', text: 'done' },
        finishReason: { unified: 'stop', raw: 'stop' },
      }
    const input = JSON.stringify({ a: k, b: 1 })
    return {
      content: { type: 'tool-call', toolCallId: `call_${k}`, toolName: 'add', input },
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    }
  }
  return new Model({
    async doGenerate({ prompt }) {
      const { content, finishReason } = reply(prompt)
      return { content: [content], finishReason, usage, warnings: [] }
    },
    async doStream({ prompt }) {
      const { content, finishReason } = reply(prompt)
      const id = 't'
      const parts =
        content.type === 'text'
          ? [
              { type: 'text-start', id },
              { type: 'text-delta', id, delta: content.text },
              { type: 'text-end', id },
            ]
          : [content]
      return {
        stream: toStream([
          { type: 'stream-start', warnings: [] },
          ...parts,
          { type: 'finish', finishReason, usage },
        ]),
      }
    },
  })
}
