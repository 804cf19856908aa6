// What models reported, on every store that Node can open.
import { keepBooks } from './books.ts'
import { onEveryStore } from './stores.ts'
import { suite } from './usage.suite.ts'

keepBooks()

onEveryStore(suite)
