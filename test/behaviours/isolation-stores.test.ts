// B12 on every store that Node can open.
import { suite } from './isolation.suite.ts'
import { onEveryStore } from './stores.ts'

onEveryStore(suite)
