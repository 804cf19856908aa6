import type { KV } from '../../adapters/cloudflare-kv.ts'
import { eventualKv, type WorldOptions } from './eventual-kv.ts'

/** A KV as one place sees it. */
export function place(options?: WorldOptions): KV {
  return eventualKv(options).at('FRA')
}

/** A row to write. */
export function put(
  key: string,
  value = 'value',
): { readonly key: string; readonly value: string } {
  return { key, value }
}

/** The texts of rows that were read. */
export async function valuesOf(
  entries: Promise<readonly ({ readonly value: string } | undefined)[]>,
): Promise<(string | undefined)[]> {
  return (await entries).map((entry) => entry?.value)
}
