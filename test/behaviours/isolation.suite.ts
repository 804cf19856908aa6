// B12: what a node, a reader or a caller does to an object reaches nobody else. The same on every store.
import { callCases } from './isolation-calls.ts'
import { readCases } from './isolation-reads.ts'
import { casesOf, type Case, type Open } from './portable.ts'

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('isolation', open, { ...readCases, ...callCases })
}
