// What a task leaves, on every store that Node can open.
import { keepBooks } from './books.ts'
import { suite } from './leave.suite.ts'
import { onEveryStore } from './stores.ts'

keepBooks()

onEveryStore(suite)
