// B21: names of threads, tenants, graphs and nodes never meet in the store, whatever they contain. On every store.
import { nameCases } from './keys-names.ts'
import { placeCases } from './keys-places.ts'
import { casesOf, type Case, type Open } from './portable.ts'

/** The cases, against stores of the place we run in. */
export function suite(open: Open): readonly Case[] {
  return casesOf('keys', open, { ...nameCases, ...placeCases })
}
