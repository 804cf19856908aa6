import { test } from 'vitest'
import { keepBooks } from '../behaviours/books.ts'
import { carried } from './current.suite.ts'

keepBooks()

for (const { name, run } of carried) test(name, run)
