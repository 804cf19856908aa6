// B08, B10 and B19 on a store whose operations fail, one after the other. The same on every store.
import { journeyCases } from './faults-journey.ts'
import { lineageCases } from './faults-lineage.ts'
import { raceCases } from './faults-races.ts'
import { stepCases } from './faults-steps.ts'
import { casesOf, type Case, type Open } from './portable.ts'

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('faults', open, { ...stepCases, ...journeyCases, ...raceCases, ...lineageCases })
}
