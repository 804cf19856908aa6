// PLACEHOLDER, to be replaced with the real story: the same signature, then `npm run cross -- --record`.
import type { Store } from '../../src/store/store.ts'

/** Does in any place what a user would do, and says what came of it. */
export async function tell(
  open: (name: string) => Promise<Store> | Store,
): Promise<readonly string[]> {
  const store = await open('story')
  await store.commit({
    puts: [
      { key: 'story/2', value: 'two' },
      { key: 'story/1', value: 'one' },
    ],
  })
  const rows = await store.list({ prefix: 'story/', limit: 10 })
  return rows.map(({ key, value }) => `${key} = ${value}`)
}
