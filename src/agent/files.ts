import { ToolUsageError } from '../errors.ts'

/** Files that an agent keeps in its state: their texts by their paths. */
export type Files = { readonly [path: string]: string }

/** How many lines are read at once, unless a model asks for more or fewer. */
export const LINES = 1_000

/** The text of a file. */
export function textAt(files: Files, path: string, tool: string): string {
  const text = Object.hasOwn(files, path) ? files[path] : undefined
  if (text !== undefined) return text
  throw new ToolUsageError(`Cannot use file "${path}": there is none of that path`, { tool })
}

/** A file more, or another text in one. */
export const withText = (files: Files, path: string, text: string): Files =>
  // Made by defining, not by assigning: a path may be "__proto__".
  Object.fromEntries([...Object.entries(files).filter(([one]) => one !== path), [path, text]])

/** What a list of files says: a path a line. */
export function listed(files: Files): string {
  const paths = Object.keys(files).sort()
  if (paths.length === 0) return 'There are no files yet'
  return paths.map((path) => `${path} (${count(linesOf(files[path]!).length)})`).join('\n')
}

/** Some lines of a text, and how it goes on. */
export function linesFrom(
  path: string,
  text: string,
  offset: number,
  limit: number,
  tool: string,
): string {
  const lines = linesOf(text)
  if (lines.length === 0 && offset === 0) return `"${path}" is empty`
  if (offset >= lines.length)
    throw new ToolUsageError(
      `Cannot read file "${path}" from offset ${offset}: it has ${count(lines.length)}`,
      { tool },
    )
  const end = Math.min(offset + limit, lines.length)
  const shown = lines.slice(offset, end).join('\n')
  if (end === lines.length) return shown
  return `${shown}\n[lines ${offset + 1} to ${end} of ${lines.length}; read on with offset ${end}]`
}

/** A text with a part of it replaced, which must be there once. */
export function edited(
  path: string,
  text: string,
  { old, by }: { readonly old: string; readonly by: string },
  tool: string,
): string {
  const refuse = (why: string): never => {
    throw new ToolUsageError(`Cannot edit file "${path}": ${why}`, { tool })
  }
  if (old === '') refuse('the text to replace is empty')
  if (old === by) refuse('the new text is the old one')
  const at = text.indexOf(old)
  if (at < 0) refuse('the text to replace is not in it')
  if (text.indexOf(old, at + 1) >= 0)
    refuse('the text to replace is in it more than once; take more of what is around it')
  return text.slice(0, at) + by + text.slice(at + old.length)
}

/** How long a text is, in words. */
export const size = (text: string): string => count(linesOf(text).length)

const count = (n: number): string => `${n} ${n === 1 ? 'line' : 'lines'}`

/** The lines of a text. A line break at its end begins no line. */
function linesOf(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}
