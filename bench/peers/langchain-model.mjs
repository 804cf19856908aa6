// What both agents of LangChain are given: a fake model, a tool, and a saver whose bytes can be counted.
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { z } from 'zod'

/** Asks for the tool so many times, then says it is done. */
export class FakeModel extends BaseChatModel {
  constructor(turns) {
    super({})
    this.turns = turns
  }
  _llmType() {
    return 'fake'
  }
  bindTools() {
    return this
  }
  async _generate(messages) {
    const k = messages.filter((message) => message.getType() === 'tool').length
    const call = { id: `call_${k}`, name: 'add', args: { a: k, b: 1 }, type: 'tool_call' }
    const message =
      k < this.turns ? new AIMessage({ content: '', tool_calls: [call] }) : new AIMessage('done')
    return { generations: [{ text: message.content, message }] }
  }
}

/** A loop on an agent that `makeAgent` makes of a model, tools and a saver. */
export function loopOn(makeAgent, turns, kept) {
  let calls = 0
  let saver
  const add = tool(
    async ({ a, b }) => {
      calls++
      return String(a + b)
    },
    {
      name: 'add',
      description: 'Adds two numbers.',
      schema: z.object({ a: z.number(), b: z.number() }),
    },
  )
  saver = kept === 'each step' ? new MemorySaver() : undefined
  const agent = makeAgent(new FakeModel(turns), [add], saver)
  let threads = 0
  return {
    async run() {
      calls = 0
      const options = {
        recursionLimit: turns * 2 + 10,
        configurable: { thread_id: `t${++threads}` },
      }
      const { messages } = await agent.invoke(
        { messages: [{ role: 'user', content: 'go' }] },
        options,
      )
      return { calls, text: messages.at(-1).content }
    },
    bytes: () => ({ left: bytesOf(saver) }),
    reset() {
      if (!saver) return
      saver.storage = Object.create(null)
      saver.writes = Object.create(null)
    },
  }
}

/** Bytes that a saver holds: checkpoints with their metadata, and pending writes. */
function bytesOf({ storage, writes }) {
  let bytes = 0
  for (const thread of Object.values(storage))
    for (const namespace of Object.values(thread))
      for (const [checkpoint, metadata] of Object.values(namespace))
        bytes += checkpoint.length + metadata.length
  for (const rows of Object.values(writes))
    for (const [, , value] of Object.values(rows)) bytes += value.length
  return bytes
}
