// Tools outside threads, in every place: what goes in, what comes out, what stops a call, and what is left behind.
import type { Case } from '../behaviours/portable.ts'
import { cacheCases } from './tools-cache.ts'
import { hookCases } from './tools-hooks.ts'
import { inputCases } from './tools-input.ts'
import { resultCases } from './tools-results.ts'
import { timeCases } from './tools-time.ts'

const cases = { ...inputCases, ...resultCases, ...timeCases, ...hookCases, ...cacheCases }

/** The cases. */
export function suite(): readonly Case[] {
  return Object.entries(cases).map(([name, run]) => ({ name, run }))
}
