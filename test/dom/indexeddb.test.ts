import 'fake-indexeddb/auto'
import { test } from 'vitest'
import { suite } from '../browser/indexeddb.suite.ts'

for (const { name, run } of suite) test(name, run, 60_000)
