import { env } from 'cloudflare:test'
import { describe, expect, test } from 'vitest'
import { d1, type D1 } from '../../adapters/d1.ts'
import { storeContract } from '../../adapters/testing.ts'
import type { Store } from '../../src/index.ts'

// The pool keeps what a test of this file wrote, so each has a table of its own.
const { DB: db } = env as unknown as { readonly DB: D1Database }
let made = 0
const table = (): string => `test_${made++}`

describe('the contract, on the D1 of workerd', () => {
  const create = (): Store => d1(db, { table: table() })
  for (const { name, run } of storeContract({ create })) test(name, run)
})
