// B36, B09 and what is remembered, on every store that Node can open.
import { suite } from './approvals.suite.ts'
import { onEveryStore } from './stores.ts'
import { keepBooks } from './books.ts'

keepBooks()

onEveryStore(suite)
