/**
 * Runs so many at a time, begun in order.
 *
 * @param run Does one; it may leave its turn to the next before it has settled
 * @returns What came of each, in their order; rejects if one does
 */
export function inTurns<Item, Result>(
  items: readonly Item[],
  most: number,
  run: (item: Item, leave: () => void) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const at = results.length
      if (at === items.length) return
      let left = false
      const leave = (): void => {
        if (left) return
        left = true
        next()
      }
      const result = run(items[at] as Item, leave)
      results.push(result)
      if (results.length === items.length) Promise.all(results).then(resolve, reject)
      result.then(leave, leave)
    }
    if (items.length === 0) resolve([])
    for (let turns = Math.min(most, items.length); turns > 0; turns--) next()
  })
}
