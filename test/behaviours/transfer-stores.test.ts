// Moves between the memory and every store that Node can open.
import { onEveryStore } from './stores.ts'
import { suite } from './transfer.suite.ts'

onEveryStore(suite)
