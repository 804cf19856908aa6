// B08, B10 and B19 on every store that Node can open.
import { suite } from './faults.suite.ts'
import { onEveryStore } from './stores.ts'

onEveryStore(suite)
