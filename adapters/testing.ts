// heddle/testing: what tests of graphs and of stores need.
export { manualClock } from './testing/clock.ts'
export type { ManualClock } from './testing/clock.ts'

export { countingIds } from './testing/ids.ts'

export { Crash, withFaults } from './testing/faults.ts'
export type { Fault, FaultyStore, Operation } from './testing/faults.ts'

export { storeContract } from './testing/contract.ts'
export type { Guarantee, StoreCase, StoreContractOptions } from './testing/contract.ts'

export { scriptedModel } from './testing/model.ts'
export type { ScriptedModel, ScriptedReply, ScriptedTurn } from './testing/model.ts'
