import { indexedDb } from 'heddle/indexeddb'
import { pageSuites } from './page-suites.ts'
import { report, type Place, type Result } from './report.ts'
import { suites } from './suites.ts'

const stray: Result[] = []
const caught = (error: unknown): void =>
  void stray.push({ suite: 'page', name: 'has no stray error', error: String(error) })
addEventListener('error', (event) => caught(event.error ?? event.message))
addEventListener('unhandledrejection', (event) => caught(event.reason))

const place = new URLSearchParams(location.search).get('place') as Place
const { results, transcript } = await report(place, (name) => indexedDb({ name }), [
  ...suites,
  ...pageSuites,
])
await fetch('/report', {
  method: 'POST',
  body: JSON.stringify({ results: [...results, ...stray], transcript }),
})
