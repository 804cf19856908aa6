import { quietly } from '../lib/quietly.ts'
import type { Hook } from './hook.ts'

/** A hook in messages: by its name, or by its place. */
export const hookName = ({ name }: Hook, at: number): string =>
  typeof name === 'string' && name ? `hook "${name}"` : `hook ${at + 1}`

/** What kind of error it is. Its message stays out of logs: it may hold secrets. */
export const errorType = (error: unknown): string =>
  (error instanceof Error && quietly(() => String(error.name))) || typeof error
