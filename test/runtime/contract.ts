import { storeContract } from 'heddle/testing'
import { sealing } from '../store/encrypted.tools.ts'
import type { Open } from './report.ts'

let made = 0

/** The contract that every store keeps, against the store of the place we run in. */
export function contract(open: Open): ReturnType<typeof storeContract> {
  return storeContract({ create: async () => open(`contract-${made++}`) })
}

/** The same contract with every value encrypted. */
export function sealedContract(open: Open): ReturnType<typeof storeContract> {
  return contract(sealing((name) => open(`sealed-${name}`)))
}
