import { test } from 'vitest'
import { keepBooks } from '../behaviours/books.ts'
import { suite } from './scope.suite.ts'

keepBooks()

for (const { name, run } of suite) test(name, run)
