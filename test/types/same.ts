type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only if two types are identical. */
export declare function same<A, B>(proof: Equal<A, B>): void

/** A type written out, so that an intersection equals the object it amounts to. */
export type Flat<T> = { [K in keyof T]: T[K] }
