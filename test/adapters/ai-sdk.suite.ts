// `fromAiSdk` with the providers of every generation, wherever they run. What differs is how they are linked.
import { casesOf, type Case, type Open } from '../behaviours/portable.ts'
import { loopback } from '../fakes/loopback.ts'
import { answerCases } from './ai-sdk-answers.ts'
import { partCases } from './ai-sdk-parts.ts'
import { requestCases } from './ai-sdk-requests.ts'
import { agentCases } from './model-agents.ts'
import { makerOf, specifications } from './ai-sdk.tools.ts'
import { benchOf, straight, type Link } from './openai.tools.ts'

/** Every case with every generation. */
export function suite(open: Open, link: Link = straight): readonly Case[] {
  const byGeneration = specifications.flatMap((specification) => {
    const at = benchOf(link, makerOf(specification))
    const cases = { ...answerCases(at, specification), ...requestCases(specification) }
    const plain = Object.entries(cases).map(([name, run]) => ({ name, run }))
    const whole = casesOf(`ai-sdk-${specification}`, open, agentCases(at))
    return [...plain, ...whole].map(({ name, run }) => ({ name: `${specification}: ${name}`, run }))
  })
  return [...byGeneration, ...Object.entries(partCases()).map(([name, run]) => ({ name, run }))]
}

/** The same over HTTP on 127.0.0.1, by the server and the `fetch` of the place. */
export function overSocket(open: Open): readonly Case[] {
  return suite(open, ({ fetch }) => loopback(fetch))
}
