import { hookName } from './name.ts'

/** What hooks may be called for. */
export const METHODS: readonly string[] = [
  ...['beforeTool', 'afterTool', 'onToolError'],
  ...['beforeLlm', 'afterLlm', 'onLlmError'],
  ...['beforeNode', 'afterNode', 'onNodeError'],
  'onEvent',
]

/**
 * Refuses hooks that make no sense, misspelt methods included, those of their classes too.
 *
 * @param cannot What can't be done then
 * @throws TypeError naming the hook and the member
 */
export function checkHooks(cannot: string, hooks: unknown): void {
  if (!Array.isArray(hooks)) throw new TypeError(`${cannot}: hooks is not a list of hooks`)
  for (const [at, hook] of (hooks as unknown[]).entries()) {
    if (typeof hook !== 'object' || hook === null)
      throw new TypeError(`${cannot}: hook ${at + 1} is not an object`)
    const what = hookName(hook, at)
    for (const member of membersOf(hook)) {
      const value = (hook as Record<string, unknown>)[member]
      if (!METHODS.includes(member))
        throw new TypeError(`${cannot}: "${member}" of ${what} is no method of hooks`)
      if (value !== undefined && typeof value !== 'function')
        throw new TypeError(`${cannot}: ${member} of ${what} is not a function`)
    }
  }
}

/** What a hook has, or inherits from its class, that looks like a method of hooks. */
function membersOf(hook: object): string[] {
  const names: string[] = []
  for (let one = hook; one && one !== Object.prototype; one = Object.getPrototypeOf(one) as object)
    names.push(...Object.getOwnPropertyNames(one))
  return names.filter((name) => /^(before|after|on)[A-Z]/.test(name))
}
