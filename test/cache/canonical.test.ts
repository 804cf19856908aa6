import { it } from 'vitest'
import { suite } from './canonical.suite.ts'

for (const { name, run } of suite) it(name, run)
