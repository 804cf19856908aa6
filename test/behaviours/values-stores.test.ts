// B15 on every store that Node can open.
import { onEveryStore } from './stores.ts'
import { suite } from './values.suite.ts'

onEveryStore(suite)
