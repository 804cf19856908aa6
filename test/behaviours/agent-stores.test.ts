// A whole agent on every store that Node can open.
import { suite } from './agent.suite.ts'
import { keepBooks } from './books.ts'
import { onEveryStore } from './stores.ts'

keepBooks()

onEveryStore(suite)
