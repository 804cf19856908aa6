import { createInterface } from 'node:readline'

/** The two ends of a conversation in a terminal or a pipe. */
export interface Terminal {
  /** Whether a person sits there. */
  readonly interactive: boolean
  say(text: string): void
  /** The next line, or `undefined` when there will be none. */
  ask(prompt: string): Promise<string | undefined>
  /** A message: a line from a person; from a pipe all that comes at once, up to a line that can only be an answer. */
  message(prompt: string): Promise<string | undefined>
  /** Lets an instant come, and shows how long it takes. */
  until(instant: Date, what: string): Promise<void>
  close(): void
}

const ANSWER = /^\s*(?:y|yes|n|no|ok|okay|--|#?(?:[a-z]-?)?\d{1,9})\s*[.!]?\s*$/i
/** What comes in one go comes within this many milliseconds. */
const PAUSE = 150

/**
 * Opens the terminal of this process.
 *
 * @param onInterrupt What Ctrl-C does
 */
export function openTerminal(onInterrupt: () => void): Terminal {
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true
  const reader = createInterface({
    input: process.stdin,
    ...(interactive ? { output: process.stdout } : {}),
  })
  const lines: string[] = []
  let ended = false
  let arrived = (): void => {}
  reader.on('line', (line) => {
    lines.push(line)
    arrived()
  })
  reader.on('close', () => {
    ended = true
    arrived()
  })
  reader.on('SIGINT', onInterrupt) // a terminal that reads a line keeps Ctrl-C from the process
  process.on('SIGINT', onInterrupt)
  process.stdout.on('error', () => process.exit(0)) // nobody reads any more

  const say = (text: string): void => void process.stdout.write(`${text}\n`)

  /** Settles when there is a line, when there will be none, or after some milliseconds. */
  async function hasLine(ms?: number): Promise<boolean> {
    if (lines.length === 0 && !ended) {
      let timer: ReturnType<typeof setTimeout> | undefined
      await new Promise<void>((resolve) => {
        arrived = resolve
        if (ms !== undefined) timer = setTimeout(resolve, ms)
      })
      clearTimeout(timer)
    }
    return lines.length > 0
  }

  async function ask(prompt: string): Promise<string | undefined> {
    process.stdout.write(prompt)
    const got = await hasLine()
    if (!interactive) say(lines[0] ?? '')
    else if (!got) say('')
    return lines.shift()
  }

  async function message(prompt: string): Promise<string | undefined> {
    if (interactive) return ask(prompt)
    const text: string[] = []
    while (await hasLine(text.length > 0 ? PAUSE : undefined)) {
      if (text.length > 0 && ANSWER.test(lines[0]!)) break
      const next = lines.shift()!
      if (text.length > 0 || next.trim() !== '') text.push(next)
    }
    if (lines[0]?.trim() === '--') lines.shift()
    return text.length > 0 ? text.join('\n').trim() : undefined
  }

  async function until(instant: Date, what: string): Promise<void> {
    const left = (): number => instant.getTime() - Date.now()
    if (!interactive && left() > 0) say(`${what}: ${seconds(left())}`)
    while (left() > 0) {
      if (interactive) process.stdout.write(`\r\u001b[2K${what}: ${seconds(left())}`)
      await new Promise((resolve) => setTimeout(resolve, Math.min(left() + 1, 250)))
    }
    if (interactive) process.stdout.write('\r\u001b[2K')
  }

  return { interactive, say, ask, message, until, close: () => reader.close() }
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`
}
