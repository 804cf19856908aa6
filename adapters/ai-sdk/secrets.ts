type Headers = Readonly<Record<string, string | undefined>>

/**
 * What a provider sends in its headers, to be left out of what is told of a failure. Providers keep it in their `config`,
 * as headers or as a function that makes them; of one that doesn't nothing is known.
 */
export async function secretsOf(model: object): Promise<readonly string[]> {
  const { config } = model as { readonly config?: { readonly headers?: unknown } }
  try {
    const made: unknown = config?.headers
    const headers = (await (typeof made === 'function' ? made() : made)) as Headers | undefined
    return Object.values(headers ?? {}).flatMap((value) =>
      // "Bearer", and what stands behind it.
      typeof value === 'string' ? [value, ...value.split(/\s+/).slice(1)] : [],
    )
  } catch {
    return []
  }
}
