// `openAiCompatible` against an endpoint that speaks as real ones do. What differs is how they are linked.
import type { Case, Open } from '../behaviours/portable.ts'
import { loopback } from '../fakes/loopback.ts'
import { answerCases } from './openai-answers.ts'
import { failureCases } from './openai-failures.ts'
import { requestCases } from './openai-requests.ts'
import { benchOf, straight, type Link } from './openai.tools.ts'

/** Every case over one kind of link. */
export function suite(_open: Open, link: Link = straight): readonly Case[] {
  const at = benchOf(link)
  const cases = { ...answerCases(at), ...requestCases(at), ...failureCases(at) }
  return Object.entries(cases).map(([name, run]) => ({ name, run }))
}

/** The same over HTTP on 127.0.0.1, by the server and the `fetch` of the place. */
export function overSocket(open: Open): readonly Case[] {
  return suite(open, ({ fetch }) => loopback(fetch))
}
