// How a state is kept: as logs of what changed. Any sequence of changes, reloads and branches reads back as a model says.
import { expect, test } from 'vitest'
import { decode, encode } from '../../src/durable/codec.ts'
import { List, Messages } from '../../src/durable/list.ts'
import type { StateRefs } from '../../src/durable/refs.ts'
import { State, type FieldShape } from '../../src/durable/state.ts'
import { mulberry32 } from './harness.ts'

const ROOT = 't/a.b/'
const ABSENT = Symbol('absent')
const fields: readonly FieldShape[] = [
  { name: 'plain', kind: 'plain' },
  { name: 'list', kind: 'list' },
  { name: '__proto__', kind: 'custom' },
  { name: 'other', kind: 'list' },
  { name: 'rare', kind: 'reduced' },
  { name: 'never', kind: 'plain' },
  { name: 'messages', kind: 'messages' },
]

type Values = readonly unknown[]

/** One line of checkpoints: where it stands, and what it must hold. */
interface Line {
  state: State
  refs: StateRefs
  model: unknown[]
}

/** Rows that are written once, and counted as they are read. */
class Once {
  readonly rows = new Map<string, string>()
  most = 0

  put(puts: readonly { readonly key: string; readonly value: string }[]): void {
    for (const { key, value } of puts) {
      expect(this.rows.has(key), `${key} is written once`).toBe(false)
      this.rows.set(key, value)
    }
  }

  async get(keys: readonly string[]): Promise<({ value: string } | undefined)[]> {
    this.most = Math.max(this.most, keys.length)
    return keys.map((key) => {
      const value = this.rows.get(key)
      return value === undefined ? undefined : { value }
    })
  }
}

function valueBy(random: () => number): unknown {
  const n = Math.floor(random() * 1000)
  const kinds = [
    n,
    `v${n}`,
    { n },
    [n, null],
    undefined,
    new Date(n),
    Number.NaN,
    '',
    null,
    new Map([[n, [n]]]),
  ]
  return kinds[Math.floor(random() * kinds.length)]
}

/** Changes some fields, in the state and in the model alike. */
function change({ state, model }: Line, random: () => number): void {
  for (const [i, { name, kind }] of fields.entries()) {
    if (name === 'never' || random() > (name === 'rare' ? 0.02 : 0.5)) continue
    if (kind === 'messages') say(state, i, model, random)
    else if (kind !== 'list') {
      const value = valueBy(random)
      state.set(i, encode(value))
      model[i] = value
    } else if (random() < 0.01 || model[i] === ABSENT) {
      const items = Array.from({ length: Math.floor(random() * 3) }, () => valueBy(random))
      state.set(i, new List(items.map((item) => encode(item))))
      model[i] = items
    } else {
      const items = Array.from({ length: Math.floor(random() * 3) }, () => valueBy(random))
      state.append(
        i,
        items.map((item) => encode(item)),
      )
      model[i] = [...(model[i] as unknown[]), ...items]
    }
  }
}

/** Does something to messages: some come, some change, some go. */
function say(state: State, at: number, model: unknown[], random: () => number): void {
  const whole = random() < 0.02 || model[at] === ABSENT
  const there = new Map(
    (whole ? [] : (model[at] as { readonly id: string }[])).map((one) => [one.id, one]),
  )
  const done = Array.from({ length: Math.floor(random() * 4) }, () => {
    const id = `m${Math.floor(random() * 40)}`
    if (random() < 0.3) return there.delete(id) ? { remove: id } : []
    const message = { id, role: 'user', text: '', value: valueBy(random) }
    there.set(id, message)
    return message
  }).flat()
  const cells = done.map((one) => encode(one))
  if (whole) state.set(at, new Messages().append(cells))
  else state.append(at, cells)
  if (random() < 0.05) state.compact()
  model[at] = [...there.values()]
}

const read = ({ values }: State): Values =>
  values.map((value) =>
    value === undefined ? ABSENT : value instanceof List ? value.copy() : decode(value),
  )

for (let seed = 1; seed <= 40; seed++) {
  test(`changes, reloads and branches by chance read back as they were made (${seed})`, async () => {
    const random = mulberry32(seed)
    const store = new Once()
    const steps = seed < 25 ? 1 + Math.floor(random() * 150) : 200 + Math.floor(random() * 2300)
    const branches = seed % 3 === 0 ? 1 : 4
    const lines: Line[] = [{ state: new State(fields), refs: {}, model: fields.map(() => ABSENT) }]
    const seen: { readonly refs: StateRefs; readonly model: Values }[] = []
    for (let step = 1; step <= steps; step++) {
      const line = lines[Math.floor(random() * lines.length)] as Line
      change(line, random)
      const puts: { key: string; value: string }[] = []
      line.refs = JSON.parse(JSON.stringify(line.state.write(ROOT, `c${step}`, puts))) as StateRefs
      store.put(puts)
      expect(puts.length).toBeLessThanOrEqual(4)
      if (random() < 20 / steps || step === steps)
        seen.push({ refs: line.refs, model: [...line.model] })
      // A pause or a crash: who takes a thread over from a dead owner shares no rows with it.
      if (random() < 0.05) line.state = await load(line.refs, random() < 0.3)
      if (lines.length < branches && random() < 10 / steps) {
        const from = seen[Math.floor(random() * seen.length)]
        if (from)
          lines.push({
            state: await load(from.refs, true),
            refs: from.refs,
            model: [...from.model],
          })
      }
    }
    for (const { refs, model } of [...seen, ...lines])
      expect(read(await load(refs, false))).toEqual(model)
    // 31 rows of each of three levels and a base, of four logs.
    expect(store.most).toBeLessThanOrEqual(4 * (3 * 31 + 1))

    function load(refs: StateRefs, shared: boolean): Promise<State> {
      return State.load(fields, ROOT, refs, store, shared)
    }
  })
}
