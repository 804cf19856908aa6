import { expect, test } from 'vitest'
import { storeContract } from '../../adapters/testing.ts'
import { memory } from '../../src/store/memory.ts'

for (const { name, run } of storeContract({ create: () => memory() })) test(name, run)
