// B37 on every store that Node can open.
import { onEveryStore } from '../behaviours/stores.ts'
import { suite } from './cache.suite.ts'
import { keepBooks } from '../behaviours/books.ts'

keepBooks()

onEveryStore(suite)
