import { call, check, methods, wholeFrom, type Rule } from '../lib/check.ts'
import { checkHooks } from '../hook/check.ts'
import { LONGEST } from '../lib/clock.ts'

const text: Rule = [(value) => typeof value === 'string', 'a string']
export const name: Rule = [
  (value) => typeof value === 'string' && value !== '',
  'a non-empty string',
]
export const record: Rule = [
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object',
]
export const schema: Rule = [
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
const list: Rule = [Array.isArray, 'a list']

const from = (least: number, most = Number.MAX_VALUE): Rule => [
  (value) => typeof value === 'number' && value >= least && value <= most,
  `a number from ${least} ${most < Number.MAX_VALUE ? `to ${most}` : 'on'}`,
  RangeError,
]

/**
 * Refuses a tool that makes no sense.
 *
 * @throws TypeError for what is missing, misspelt or of another type, RangeError for a number out of range
 */
export function checkTool(spec: object): void {
  const given = Object(spec) as { readonly [member: string]: unknown }
  const named = typeof given['name'] === 'string' ? ` "${given['name']}"` : ' without a name'
  const cannot = `Cannot make tool${named}`
  const needed = { name, description: text, input: schema, run: call }
  for (const member of Object.keys(needed))
    check(cannot, needed, { [member]: given[member] ?? null })
  const rules = { output: schema, parameters: record, approve, cache: record, retry: record }
  check(cannot, { ...needed, ...rules, timeout: from(1, LONGEST) }, given)
  const { cache, retry } = given as { cache?: { scope?: unknown }; retry?: { attempts?: unknown } }
  if (cache)
    check(
      `${cannot} with that cache`,
      { scope, ttl: from(1) },
      { ...cache, scope: cache.scope ?? null },
    )
  if (retry) checkRetry(cannot, retry)
}

/** Refuses a rule of trying again that makes no sense. */
export function checkRetry(cannot: string, retry: { readonly attempts?: unknown }): void {
  const times = {
    attempts: wholeFrom(1),
    delay: from(0, LONGEST),
    factor: from(1, LONGEST),
    maxDelay: from(0, LONGEST),
    jitter: from(0, 1),
    when: call,
  }
  check(`${cannot} with that retry`, times, { ...retry, attempts: retry.attempts ?? null })
}

/** Refuses options of an executor that make no sense. */
export function checkExecutor(cannot: string, options: object): void {
  const given = Object(options) as { readonly tools?: unknown; readonly hooks?: unknown }
  const rules = {
    tools: list,
    hooks: list,
    cache: methods('get', 'set', 'delete'),
    concurrency: wholeFrom(1, Infinity),
    scope: record,
    logger: methods('debug', 'warn', 'error'),
    clock: methods('now', 'after'),
    random: call,
  }
  check(cannot, rules, { ...given, tools: given.tools ?? null })
  checkHooks(cannot, given.hooks ?? [])
}

/** Refuses what a caller gave that makes no sense. */
export function checkCaller(cannot: string, given: object): void {
  const rules = {
    run: text,
    thread: text,
    user: text,
    metadata: record,
    scope: record,
    signal: methods('addEventListener', 'removeEventListener'),
    emit: call,
  }
  check(cannot, rules, given)
}
