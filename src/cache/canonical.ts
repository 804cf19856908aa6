import { isPart, type Part } from '../durable/codec-tags.ts'
import { encode, pathText, Tagged } from '../durable/codec.ts'
import { UnserializableValue } from '../errors.ts'
import { sum } from '../lib/digest.ts'

/**
 * JSON by RFC 8785: keys in the order of their code units, no spaces, numbers as JavaScript writes them. Two things are
 * its own: a lone surrogate is escaped instead of refused, and a member that is `undefined` is left out. Otherwise no two
 * values that can be stored have one text.
 *
 * @throws UnserializableValue, naming the path, for what JSON can't hold: dates, maps, sets, bigints, bytes, errors, NaN,
 *   infinities, instances of classes, functions, symbols, `undefined` and holes in lists, circular references, and nesting
 *   deeper than 1,000
 */
export function canonicalJson(value: unknown): string {
  const cell = encode(value)
  return textOfJson(cell instanceof Tagged ? untagged(cell) : cell)
}

/**
 * The first 32 hex characters of SHA-256 over the canonical JSON of a value, in UTF-8.
 *
 * @throws UnserializableValue for what canonical JSON can't hold
 */
export async function digest(value: unknown): Promise<string> {
  return sum(new TextEncoder().encode(canonicalJson(value)))
}

/** What of a tree JSON can hold after all: without its members that are `undefined`, and with −0 as 0. The tree was made for us. */
function untagged({ tree, tags }: Tagged): unknown {
  const top: Part = [tree] as never
  for (const [type, ...path] of tags) {
    let at = top
    let key: string | number = 0
    for (const next of path) {
      at = at[key] as Part
      key = next
    }
    if (type === 'undefined' && !Array.isArray(at)) delete at[key]
    else if (type === 'number' && at[key] === '-0') at[key] = 0
    else refuse(path, type === 'number' ? `${at[key] as string}` : type)
  }
  return top[0]
}

/** The same of what is JSON already. */
export function textOfJson(tree: unknown): string {
  if (!isPart(tree)) return JSON.stringify(tree)
  if (Array.isArray(tree)) return `[${tree.map(textOfJson).join()}]`
  const members = Object.keys(tree).sort()
  return `{${members.map((key) => `${JSON.stringify(key)}:${textOfJson(tree[key])}`).join()}}`
}

function refuse(keys: readonly (string | number)[], type: string): never {
  const path = pathText(keys)
  const what = path === '' ? 'a value' : `"${path}"`
  throw new UnserializableValue(`Cannot write ${what} as JSON: its type is "${type}"`, {
    path,
    type,
  })
}
