// What is on record of runs, models and questions, on every store that Node can open.
import { suite } from './records.suite.ts'
import { onEveryStore } from './stores.ts'
import { keepBooks } from './books.ts'

keepBooks()

onEveryStore(suite)
