// Scopes, their values and warm runners, by a clock that stands still: the same in every place.
import type { Case } from '../behaviours/portable.ts'
import { localCases } from './local-cases.ts'
import { runnerCases } from './runner-cases.ts'
import { scopedCases } from './scoped-cases.ts'

export const suite: readonly Case[] = Object.entries({
  ...scopedCases,
  ...localCases,
  ...runnerCases,
}).map(([name, check]) => ({ name, run: async () => check() }))
