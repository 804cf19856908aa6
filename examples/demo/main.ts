import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compile, isHeddleError, type Store } from 'heddle'
import { fileStore } from '../file-store.ts'
import { support } from './graph.ts'
import { dieWithLauncher } from './launcher.ts'
import { fileLedger } from './ledger.ts'
import { openShop } from './orders.ts'
import { openSession, Unanswered, type Session, type Support } from './session.ts'
import { openTerminal } from './terminal.ts'
import { trainUnderstanding } from '../nlu/understand.ts'

const USAGE = `Usage: npm run demo -- [options] [message]

A support desk that you can kill at any moment: started again, it goes on where it was.
The message is text in your own words. Without one it is read from a pipe, or asked for.
In a pipe, a line that is only yes, no, an order number or -- ends the message; what comes from there on are answers.

  --new          start another conversation, also when one is open
  --list         list the conversations
  --thread <id>  go on with this one
  --dir <path>   where everything is kept (default: .heddle-demo)
  --limit <n>    dollars that go back without a question (default: 50)
  --wait <s>     seconds that the bank takes (default: 3)
  --help         say this`

let session: Session | undefined
let store: Store | undefined
const terminal = openTerminal(() => void leave())

/** Ctrl-C: a second one doesn't wait. */
async function leave(): Promise<void> {
  const now = session
  session = undefined
  terminal.say(
    now ? '\nStopped. The conversation is kept: start the demo again to go on.' : '\nStopped.',
  )
  const impatience = setTimeout(() => process.exit(130), 1_000)
  await now?.stop()
  clearTimeout(impatience)
  await end(130)
}

async function end(status: number): Promise<never> {
  await store?.close?.()
  process.exit(status)
}

async function main(): Promise<void> {
  const options = readOptions()
  if (options.help) return terminal.say(USAGE)
  const answered = join(options.dir, 'answered')
  store = await fileStore(join(options.dir, 'threads.log'))
  const shop = openShop(fileLedger(join(options.dir, 'ledger.log')))
  const app: Support = compile(
    support({
      understand: await trainUnderstanding(),
      shop,
      limit: options.limit,
      bankMs: options.bankMs,
    }),
    { store, leaseMs: 2_000 },
  )
  if (options.list) return list(app)

  terminal.say(
    'A support desk. It understands English with a small NLU model (wink-nlp and nlp.js), not an LLM, and without a network.',
  )
  terminal.say(
    'Stop it whenever you like, also with kill -9: started again, it goes on where it was.\n',
  )
  const open = options.thread ?? (options.fresh ? undefined : await unfinished(app, answered))
  if (open !== undefined) {
    const message = await goOn(app, open)
    writeFileSync(answered, open)
    // The same command again is how one goes on, and what follows in the pipe were answers.
    if (options.message === undefined ? !terminal.interactive : options.message === message) return
    terminal.say('')
  }

  const message = options.message ?? (await terminal.message('Your message: '))
  if (!message)
    return terminal.say(
      open === undefined ? `There is no message, so there is nothing to do.\n\n${USAGE}` : '',
    )
  const thread = crypto.randomUUID().slice(0, 8)
  if (!terminal.interactive || options.message) terminal.say(`Your message: ${message}`)
  session = openSession(app, terminal, thread)
  await session.start(message)
  writeFileSync(answered, thread)
}

async function goOn(app: Support, thread: string): Promise<string> {
  const before = await app.state(thread)
  if (!before) throw new Error(`There is no conversation ${thread}: --list shows what there is`)
  terminal.say(`Going on where it stopped: "${before.state.message}"`)
  session = openSession(app, terminal, thread)
  await session.goOn(before)
  return before.state.message
}

/** The newest thread, unless it has ended and somebody has seen its answer. */
async function unfinished(app: Support, answered: string): Promise<string | undefined> {
  for await (const { id, status } of app.threads({ limit: 1 })) {
    if (status !== 'success' || !existsSync(answered) || readFileSync(answered, 'utf8') !== id)
      return id
  }
  return undefined
}

async function list(app: Support): Promise<void> {
  for await (const { id, status, createdAt } of app.threads()) {
    const { state } = (await app.state(id)) ?? {}
    terminal.say(
      `${id}  ${createdAt.slice(0, 19)}  ${status.padEnd(11)}  ${state?.message.split('\n')[0]?.slice(0, 60) ?? ''}`,
    )
  }
}

interface Options {
  readonly dir: string
  readonly help: boolean
  readonly list: boolean
  readonly fresh: boolean
  readonly thread?: string
  readonly limit: number
  readonly bankMs: number
  readonly message?: string
}

function readOptions(): Options {
  const text = (fallback: string) => ({ type: 'string', default: fallback }) as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: flag,
      list: flag,
      new: flag,
      thread: { type: 'string' },
      dir: text('.heddle-demo'),
      limit: text('50'),
      wait: text('3'),
    },
  })
  const message = positionals.join(' ').trim()
  return {
    dir: values.dir,
    help: values.help,
    list: values.list,
    fresh: values.new,
    ...(values.thread === undefined ? {} : { thread: values.thread }),
    limit: positive('limit', values.limit),
    bankMs: 1_000 * positive('wait', values.wait),
    ...(message === '' ? {} : { message }),
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value < 1e6))
    throw new Error(`--${name} takes a number, not "${text}"`)
  return value
}

function explain(error: unknown): string {
  if (isHeddleError(error, 'storage_blocked'))
    return 'Another demo is at work in this directory: end it first, or use --dir'
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
    return `${error.message.split(/\.\s/)[0]}: --help lists the options`
  return error instanceof Error ? error.message : String(error)
}

dieWithLauncher()
try {
  await main()
  await end(0)
} catch (error) {
  if (!(error instanceof Unanswered)) process.stderr.write(`\n${explain(error)}\n`)
  else
    terminal.say(
      '\n\nNobody answers, so the conversation is kept. Start the demo again to answer, or pipe the answer in: echo yes | npm run demo',
    )
  await end(error instanceof Unanswered ? 0 : 1)
}
