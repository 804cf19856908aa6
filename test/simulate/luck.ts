import { mulberry32 } from '../behaviours/luck.ts'

/** Chance by a seed. What is drawn for one purpose doesn't move what is drawn for another: each has its own. */
export class Luck {
  readonly next: () => number

  constructor(seed: number, purpose: number) {
    this.next = mulberry32(Math.imul(seed, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca6b))
  }

  /** A whole number from 0 up to, but not including, `n`. */
  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }

  /** Some of a list, at least one, in order. */
  some<Value>(values: readonly Value[]): Value[] {
    const chosen = values.filter(() => this.chance(0.5))
    return chosen.length > 0 ? chosen : [this.pick(values)]
  }

  /** One by weight. */
  weighed<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[]
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0)
    return names.find((name) => (left -= weights[name]) < 0) ?? (names.at(-1) as Name)
  }
}
