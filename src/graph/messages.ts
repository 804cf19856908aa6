import type { Message, NewMessage, RemoveMessage } from '../model/message.ts'
import type { Issue, Schema } from '../schema.ts'
import { byId, type Reduced } from './state.ts'

/**
 * A field that holds messages: new ones come last, one of a known id takes the place of that, and `{ remove: id }` takes
 * one away. Ids (`msg_…`) and `createdAt` are given once, when a node's result or an input is accepted; a message that
 * brings its own keeps them. What is there already and the same is left out, so that a node may return the whole list.
 * Only what changed is stored.
 *
 * Other members than those that are known are kept. A removal of an id that isn't there is a `SchemaError`.
 */
export function messages(): Reduced<
  readonly NewMessage[] | undefined,
  readonly Message[],
  readonly (NewMessage | RemoveMessage)[]
> {
  return { schema, reduce: byId }
}

/** Says what is wrong with a value; nothing if it is good. */
type Check = (value: unknown) => string | undefined
/** A list of objects, each held to rules. */
type Member = Check | { readonly each: Members }
type Members = { readonly [member: string]: Member }

const expected = (what: string, is: (value: unknown) => unknown): Check => {
  return (value) => (is(value) ? undefined : `Expected ${what}`)
}
const optional = (check: Check): Check => {
  return (value) => (value === undefined ? undefined : check(value))
}
const oneOf = (...values: readonly unknown[]): Check =>
  expected(values.map((value) => JSON.stringify(value)).join(' or '), (value) =>
    values.includes(value),
  )

const text = /* @__PURE__ */ expected('a string', (value) => typeof value === 'string')
const name = /* @__PURE__ */ expected(
  'a string that is not empty',
  (value) => typeof value === 'string' && value !== '',
)
const bytes = /* @__PURE__ */ expected(
  'a Uint8Array or a URL',
  (value) => typeof value === 'string' || isBytes(value),
)
const instant = /* @__PURE__ */ expected(
  'an ISO 8601 time with "Z"',
  (value) =>
    typeof value === 'string' &&
    /^[+-]?\d+-\d\d-\d\dT[\d:.]+Z$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
)
const object = /* @__PURE__ */ expected('an object', isObject)

const BASE: Members = {
  id: /* @__PURE__ */ optional(name),
  text,
  createdAt: /* @__PURE__ */ optional(instant),
}

const ROLES: { readonly [role: string]: Members } = {
  system: BASE,
  user: { ...BASE, files: { each: { mediaType: text, data: bytes } } },
  assistant: {
    ...BASE,
    reasoning: /* @__PURE__ */ optional(text),
    calls: { each: { id: text, tool: text, raw: text, wireId: /* @__PURE__ */ optional(text) } },
    partial: /* @__PURE__ */ optional(oneOf(true)),
    model: /* @__PURE__ */ optional(text),
    usage: /* @__PURE__ */ optional(object),
  },
  tool: {
    ...BASE,
    call: text,
    tool: text,
    status: /* @__PURE__ */ oneOf('success', 'error', 'denied'),
  },
}

const schema: Schema<readonly NewMessage[] | undefined, any> = {
  '~standard': {
    version: 1,
    vendor: 'heddle',
    validate(value) {
      if (value === undefined) return { value: [] }
      if (!Array.isArray(value)) return { issues: [{ message: 'Expected a list of messages' }] }
      const issues: Issue[] = []
      const made = Array.from(value, (item: unknown, n) => messageOf(item, [n], issues))
      return issues.length > 0 ? { issues } : { value: made }
    },
  },
}

/** A message or a removal without what is undefined in it. */
function messageOf(item: unknown, path: readonly number[], issues: Issue[]): unknown {
  const wrong = (message: string): void => void issues.push({ message, path })
  if (!isObject(item)) return wrong('Expected a message, or { remove: id }')
  const { role, remove } = item
  if (remove !== undefined) {
    if (role !== undefined) return wrong('Expected a message or { remove: id }, not both')
    checkMembers({ remove: name }, item, path, issues)
    return { remove }
  }
  const members = typeof role === 'string' && Object.hasOwn(ROLES, role) && ROLES[role]
  if (!members) {
    const roles = Object.keys(ROLES).map((one) => `"${one}"`)
    return void issues.push({
      message: `Expected ${roles.join(', ')}`,
      path: [...path, 'role'],
    })
  }
  checkMembers(members, item, path, issues)
  const { files } = item
  return present(Array.isArray(files) ? { ...item, files: files.map(plainFile) } : item)
}

function checkMembers(
  members: Members,
  item: Record<string, unknown>,
  path: readonly PropertyKey[],
  issues: Issue[],
): void {
  for (const [member, check] of Object.entries(members)) {
    const value = item[member]
    const at = [...path, member]
    if (typeof check === 'function') {
      const message = check(value)
      if (message !== undefined) issues.push({ message, path: at })
    } else if (Array.isArray(value)) {
      for (const [n, one] of value.entries()) {
        if (isObject(one)) checkMembers(check.each, one, [...at, n], issues)
        else issues.push({ message: 'Expected an object', path: [...at, n] })
      }
    } else if (value !== undefined) issues.push({ message: 'Expected a list', path: at })
  }
}

const present = (item: object): object =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined))

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A file whose bytes are what can be stored: a platform may have a class of its own for them. */
const plainFile = (file: unknown): unknown => {
  const data = isObject(file) && isBytes(file['data']) && (file['data'] as Uint8Array)
  return data && data.constructor !== Uint8Array
    ? { ...(file as object), data: Uint8Array.from(data) }
    : file
}

function isBytes(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Uint8Array]'
}
