// B21 on every store that Node can open.
import { suite } from './keys.suite.ts'
import { onEveryStore } from './stores.ts'

onEveryStore(suite)
