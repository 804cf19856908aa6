import { it } from 'vitest'
import { keepBooks } from '../behaviours/books.ts'
import { suite } from './models.suite.ts'

keepBooks()

for (const { name, run } of suite()) it(name, run)
