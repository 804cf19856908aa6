// LangGraph's own agent.
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { loopOn } from './langchain-model.mjs'
import { versionOf } from './version.mjs'

export const candidate = {
  version: versionOf('@langchain/langgraph'),
  kept: ['nothing', 'each step'],
  make: (turns, kept) =>
    loopOn(
      (llm, tools, checkpointer) => createReactAgent({ llm, tools, checkpointer }),
      turns,
      kept,
    ),
}
