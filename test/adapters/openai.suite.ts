// `openAiCompatible` against an endpoint that speaks as real ones do. What differs is how they are linked.
import { casesOf, type Case, type Open } from '../behaviours/portable.ts'
import { loopback } from '../fakes/loopback.ts'
import { agentCases } from './model-agents.ts'
import { answerCases } from './openai-answers.ts'
import { failureCases } from './openai-failures.ts'
import { requestCases } from './openai-requests.ts'
import { benchOf, straight, type Link } from './openai.tools.ts'

/** Every case over one kind of link. */
export function suite(open: Open, link: Link = straight): readonly Case[] {
  const at = benchOf(link)
  const cases = { ...answerCases(at), ...requestCases(at), ...failureCases(at) }
  const plain = Object.entries(cases).map(([name, run]) => ({ name, run }))
  return [...plain, ...casesOf('openai', open, agentCases(at))]
}

/** The same over HTTP on 127.0.0.1, by the server and the `fetch` of the place. */
export function overSocket(open: Open): readonly Case[] {
  return suite(open, ({ fetch }) => loopback(fetch))
}
