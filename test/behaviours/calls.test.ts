import { memory } from 'heddle'
import { test } from 'vitest'
import { keepBooks } from './harness.ts'
import { suite as around } from './called.suite.ts'
import { suite } from './calls.suite.ts'

keepBooks()

const stores = new Map<string, ReturnType<typeof memory>>()
const open = (name: string): ReturnType<typeof memory> => {
  if (!stores.has(name)) stores.set(name, memory())
  return stores.get(name) as ReturnType<typeof memory>
}

for (const { name, run } of [...suite(open), ...around(open)]) test(name, run)
