// LangChain's agent, on LangGraph.
import { createAgent } from 'langchain'
import { loopOn } from './langchain-model.mjs'
import { versionOf } from './version.mjs'

export const candidate = {
  version: versionOf('langchain'),
  kept: ['nothing', 'each step'],
  make: (turns, kept) =>
    loopOn(
      (model, tools, checkpointer) => createAgent({ model, tools, checkpointer }),
      turns,
      kept,
    ),
}
