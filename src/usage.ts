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

const FIGURES = [
  'input',
  'output',
  'total',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'requests',
  'cost',
] as const satisfies readonly (keyof TokenUsage)[]

/** Adds two usages up; neither changes. A figure that neither has stays absent. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const sum: { -readonly [Figure in keyof TokenUsage]: TokenUsage[Figure] } = {}
  for (const figure of FIGURES) {
    const [one, other] = [figureOf(a, figure), figureOf(b, figure)]
    if (one !== undefined || other !== undefined) sum[figure] = (one ?? 0) + (other ?? 0)
  }
  return sum
}

/** A figure of a usage; a total that wasn't reported follows from its parts. */
function figureOf(usage: TokenUsage, figure: keyof TokenUsage): number | undefined {
  const own = usage[figure]
  if (figure !== 'total' || own !== undefined) return own
  const { input, output } = usage
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
