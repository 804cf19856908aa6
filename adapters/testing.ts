// heddle/testing: what tests of graphs and of stores need.
export { storeContract } from './testing/contract.ts'
export type { Guarantee, StoreCase, StoreContractOptions } from './testing/contract.ts'
