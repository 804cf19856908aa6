import { env, runInDurableObject } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { durableObjectStore } from '../../adapters/durable-object.ts'
import { storeContract } from '../../adapters/testing.ts'
import type { Store } from '../../src/index.ts'
import type { Room } from './worker.ts'

const { ROOM } = env as unknown as { readonly ROOM: DurableObjectNamespace<Room> }

/** Runs in an object of its own. */
function inside<Result>(work: (storage: DurableObjectStorage) => Promise<Result>): Promise<Result> {
  return runInDurableObject(ROOM.get(ROOM.newUniqueId()), (_, { storage }) => work(storage))
}

describe('the contract, in a Durable Object of workerd', () => {
  const names = storeContract({ create: never }).map(({ name }) => name)
  for (const name of names) {
    test(name, () =>
      inside(async (storage) => {
        const cases = storeContract({ create: () => durableObjectStore(storage) })
        await cases.find((one) => one.name === name)!.run()
      }),
    )
  }
})

function never(): Store {
  throw new Error('Cannot open a store outside of an object')
}
