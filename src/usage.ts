/** Tokens of one call or the sum of several. A figure nobody reported is absent, never 0. */
export interface TokenUsage {
  readonly input?: number
  readonly output?: number
  /** As reported, else `input + output`. */
  readonly total?: number
  /** Parts of `input`. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Part of `output`. */
  readonly reasoning?: number
  /** Requests counted, retries that billed included. */
  readonly requests?: number
  /** By the `prices` given to `compile`; absent without them. */
  readonly cost?: number
}

/** Price per million tokens, by `provider/model`. */
export type Prices = {
  readonly [model: string]: {
    readonly input: number
    readonly output: number
    /** @default the price of `input` */
    readonly cacheRead?: number
    /** @default the price of `input` */
    readonly cacheWrite?: number
  }
}

/** A usage as it is stored: its figures by position, null for one that nobody reported, none after the last that somebody did. */
export type Figures = (number | null)[]

/** Which figure is where. */
const FIGURES = [
  'total',
  'cost',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'requests',
] as const satisfies readonly (keyof TokenUsage)[]

/** Adds two usages up; neither changes. A figure that neither has stays absent, and so does one that is no number from 0 on. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const figures: Figures = []
  countIn(figures, a)
  countIn(figures, b)
  return usageOf(figures)
}

/**
 * Adds a usage to stored figures.
 *
 * @param from Where they begin in the list
 */
export function countIn(figures: Figures, usage: TokenUsage, from = 0): void {
  for (const [i, figure] of FIGURES.entries()) {
    const amount = figureOf(usage, figure)
    if (amount === undefined) continue
    while (figures.length < from + i) figures.push(null)
    figures[from + i] = (figures[from + i] ?? 0) + amount
  }
}

/** What stored figures say. */
export function usageOf(figures: Readonly<Figures> = [], from = 0): TokenUsage {
  const usage: { -readonly [Figure in keyof TokenUsage]: TokenUsage[Figure] } = {}
  for (const [i, figure] of FIGURES.entries()) {
    const amount = figures[from + i] ?? undefined
    if (amount !== undefined) usage[figure] = amount
  }
  return usage
}

/** A figure of a usage, which may be anything; a total that wasn't reported follows from its parts. */
function figureOf(usage: TokenUsage, figure: keyof TokenUsage): number | undefined {
  const own = usage[figure]
  if (Number.isFinite(own) && (own as number) >= 0) return own
  if (figure !== 'total') return undefined
  const [input, output] = [figureOf(usage, 'input'), figureOf(usage, 'output')]
  return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
}

/** What a usage costs, in the unit of the prices; nothing if the model has none or no tokens were reported. */
export function costOf(
  usage: TokenUsage,
  model: string,
  prices: Prices | undefined,
): number | undefined {
  const price = prices && Object.hasOwn(prices, model) ? prices[model] : undefined
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage
  if (!price || (input === undefined && output === undefined)) return undefined
  const plain = Math.max(0, (input ?? 0) - cacheRead - cacheWrite)
  const cached =
    cacheRead * (price.cacheRead ?? price.input) + cacheWrite * (price.cacheWrite ?? price.input)
  return (plain * price.input + cached + (output ?? 0) * price.output) / 1e6
}
