import { indexedDb } from 'heddle/indexeddb'
import { report, type Result } from './report.ts'
import type { Place } from './suites.ts'

const stray: Result[] = []
const caught = (error: unknown): void =>
  void stray.push({ suite: 'page', name: 'has no stray error', error: String(error) })
addEventListener('error', (event) => caught(event.error ?? event.message))
addEventListener('unhandledrejection', (event) => caught(event.reason))

const place = new URLSearchParams(location.search).get('place') as Place
const { results, transcript } = await report(place, (name) => indexedDb({ name }))
await fetch('/report', {
  method: 'POST',
  body: JSON.stringify({ results: [...results, ...stray], transcript }),
})
