// Graphs of one node that calls tools, and what they did. Everything is made anew at each opening of a store, as a new
// process would: what a test counts lives outside.
import {
  compile,
  field,
  graph,
  tool,
  type CompileOptions,
  type CompiledGraph,
  type Context,
  type Graph,
  type Outcome,
  type Schema,
  type Store,
  type Tool,
  type ToolContext,
} from 'heddle'

// oxlint-disable-next-line typescript/no-explicit-any -- what each tool is called with is its own business
type Args = any

export const anything: Schema<Args> = field<Args>({})

/** How often each thing happened. */
export class Counts {
  readonly #counts = new Map<string, number>()

  add(name: string): number {
    const n = this.of(name) + 1
    this.#counts.set(name, n)
    return n
  }
  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }
  get all(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** A tool whose body is counted. */
export function counted(
  counts: Counts,
  name: string,
  run: (args: Args, ctx: ToolContext) => unknown,
  settings: Partial<Tool['settings']> = {},
): Tool {
  return tool({
    name,
    description: '',
    input: anything,
    ...settings,
    async run(args: unknown, ctx: ToolContext) {
      counts.add(name)
      return run(args, ctx)
    },
  })
}

/** A graph of one node, whose result is `state.out`. */
export const calling = (work: (ctx: Context) => unknown): Graph =>
  graph({
    name: 'calling',
    state: { out: field<unknown>(undefined) },
    nodes: { tools: async (_, ctx) => ({ out: await work(ctx) }) },
    edges: { start: 'tools', tools: 'end' },
  })

/** A thread that is told pass by pass, by a new process each time. */
export class Thread {
  readonly #reopen: () => Promise<Store>
  readonly #work: (ctx: Context) => unknown
  readonly #tools: readonly Tool[]
  readonly #options: CompileOptions

  constructor(
    reopen: () => Promise<Store>,
    tools: readonly Tool[],
    work: (ctx: Context) => unknown,
    options: CompileOptions = {},
  ) {
    this.#reopen = reopen
    this.#work = work
    this.#tools = tools
    this.#options = options
  }

  async app(): Promise<CompiledGraph> {
    const store = await this.#reopen()
    return compile(calling(this.#work), { store, tools: this.#tools, ...this.#options })
  }
  async start(): Promise<Outcome> {
    return (await this.app()).run({ thread: 't', input: {} })
  }
  async goOn(): Promise<Outcome> {
    return (await this.app()).run({ thread: 't' })
  }
  async answer(answers: Readonly<Record<string, unknown>>): Promise<Outcome> {
    return (await this.app()).run({ thread: 't', answers })
  }
  async answerOne(answer: unknown): Promise<Outcome> {
    return (await this.app()).run({ thread: 't', answer })
  }
}

/** What is open, by its payload. */
export function openIn(outcome: Outcome): Readonly<Record<string, string>> {
  if (outcome.status !== 'interrupted')
    throw new Error(`expected a question, got ${outcome.status}`)
  return Object.fromEntries(outcome.interruptions.map(({ id, payload }) => [String(payload), id]))
}

/** The only field of the state, once the thread has ended. */
export function resultOf(outcome: Outcome): unknown {
  if (outcome.status !== 'success') throw new Error(`expected success, got ${outcome.status}`)
  return (outcome.state as { readonly out: unknown }).out
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))
