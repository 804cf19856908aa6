/** Where cached text is kept. */
export interface CachePort {
  get(key: string): Promise<string | undefined>
  /** `ttl` in milliseconds. @default no end */
  set(key: string, text: string, options?: { readonly ttl?: number }): Promise<void>
  delete(key: string): Promise<void>
}
