// Requests to models outside threads, in every place: what goes in, what is heard, what hooks and caches make of it.
import type { Case } from '../behaviours/portable.ts'
import { cacheCases } from './models-cache.ts'
import { hookCases } from './models-hooks.ts'
import { outputCases } from './models-output.ts'
import { requestCases } from './models-request.ts'
import { streamCases } from './models-stream.ts'

const cases = { ...requestCases, ...streamCases, ...outputCases, ...hookCases, ...cacheCases }

/** The cases. */
export function suite(): readonly Case[] {
  return Object.entries(cases).map(([name, run]) => ({ name, run }))
}
