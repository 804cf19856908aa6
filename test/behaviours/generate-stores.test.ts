// B09, B32 and what is on record of requests to models, on every store that Node can open.
import { keepBooks } from './books.ts'
import { suite } from './generate.suite.ts'
import { onEveryStore } from './stores.ts'

keepBooks()

onEveryStore(suite)
