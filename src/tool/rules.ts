import { check, wholeFrom, type Rule } from '../engine/check.ts'
import { LONGEST } from '../lib/clock.ts'

const call: Rule = [(value) => typeof value === 'function', 'a function']
const name: Rule = [(value) => typeof value === 'string' && value !== '', 'a non-empty string']
const record: Rule = [
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object',
]
const schema: Rule = [
  (value) => typeof Object(Object(value)['~standard']).validate === 'function',
  'a schema',
]
const approve: Rule = [
  (value) => typeof value === 'boolean' || typeof value === 'function',
  'a boolean or a function',
]
const scope: Rule = [
  (value) => ['run', 'thread', 'global'].includes(value),
  '"run", "thread" or "global"',
]

const from = (least: number, most: number): Rule => [
  (value) => typeof value === 'number' && value >= least && value <= most,
  `a number from ${least} ${most < Number.MAX_VALUE ? `to ${most}` : 'on'}`,
  RangeError,
]

const description: Rule = [(value) => typeof value === 'string', 'a string']

/** What the spec of a tool may hold, and what there is no tool without. */
const NEEDED = { name, description, input: schema, run: call }
const TOOL = {
  ...NEEDED,
  output: schema,
  parameters: record,
  approve,
  cache: record,
  timeout: from(1, LONGEST),
  retry: record,
}
const CACHE = { scope, ttl: from(1, Number.MAX_VALUE) }
const RETRY = {
  attempts: wholeFrom(1),
  delay: from(0, LONGEST),
  factor: from(1, LONGEST),
  maxDelay: from(0, LONGEST),
  jitter: from(0, 1),
  when: call,
}

/**
 * Refuses a tool that makes no sense.
 *
 * @throws TypeError for what is missing, misspelt or of another type, RangeError for a number out of range
 */
export function checkTool(spec: object): void {
  const given = Object(spec) as { readonly [member: string]: unknown }
  const named = typeof given['name'] === 'string' ? ` "${given['name']}"` : ' without a name'
  const cannot = `Cannot make tool${named}`
  for (const member of Object.keys(NEEDED) as (keyof typeof NEEDED)[])
    check(cannot, NEEDED, { [member]: given[member] ?? null })
  check(cannot, TOOL, given)
  const { cache, retry } = given as { cache?: { scope?: unknown }; retry?: { attempts?: unknown } }
  if (cache) check(`${cannot} with that cache`, CACHE, { ...cache, scope: cache.scope ?? null })
  if (retry)
    check(`${cannot} with that retry`, RETRY, { ...retry, attempts: retry.attempts ?? null })
}
