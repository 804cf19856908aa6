import type { Store } from '../../src/index.ts'
import { clearsWhole, holdsLongValues, refusesAfterClose } from './store/limits.ts'
import { keepsPrefixesApart, listsInOrder } from './store/lists.ts'
import { readsOwnWrites, tellsAbsent } from './store/reads.ts'
import { letsOneWin, neverReusesRevisions, refusesForeign } from './store/revisions.ts'
import { writesWhole } from './store/writes.ts'

/** What every store promises. */
export type Guarantee =
  | 'reads its own writes at once'
  | 'writes a batch whole or not at all'
  | 'lets one of fifty racing checks win'
  | 'never uses a revision twice, deletes included'
  | 'refuses a foreign revision without throwing'
  | 'tells an absent key from any value'
  | 'lists in key order, page by page'
  | 'keeps a prefix apart from its neighbours'
  | 'holds values up to its limit and refuses longer ones'
  | 'clears a prefix whole'
  | 'refuses work after close'

/** How the suite gets at a store, and what it mustn't expect of it. */
export interface StoreContractOptions {
  /** Opens an empty store; called once a case. */
  readonly create: () => Store | Promise<Store>
  /** Removes what `create` made, also after a case that failed; the store may be closed by then. */
  readonly destroy?: (store: Store) => Promise<void>
  /** Promises this store can't keep, each with the reason; their cases are left out. */
  readonly except?: { readonly [G in Guarantee]?: string }
}

/** One promise, as a test. */
export interface StoreCase {
  readonly name: Guarantee
  /** Rejects, saying what was expected and what came, if the promise is broken. */
  readonly run: () => Promise<void>
}

const CASES: { readonly [G in Guarantee]: (store: Store) => Promise<void> } = {
  'reads its own writes at once': readsOwnWrites,
  'writes a batch whole or not at all': writesWhole,
  'lets one of fifty racing checks win': letsOneWin,
  'never uses a revision twice, deletes included': neverReusesRevisions,
  'refuses a foreign revision without throwing': refusesForeign,
  'tells an absent key from any value': tellsAbsent,
  'lists in key order, page by page': listsInOrder,
  'keeps a prefix apart from its neighbours': keepsPrefixesApart,
  'holds values up to its limit and refuses longer ones': holdsLongValues,
  'clears a prefix whole': clearsWhole,
  'refuses work after close': refusesAfterClose,
}

/**
 * What every store must do, as cases for any test runner:
 * `for (const { name, run } of storeContract({ create })) test(name, run)`.
 *
 * Only rows under `h/` are checked or written twice, as the core does.
 *
 * @param options How to open a store, and its exceptions
 * @returns One case per promise that the store has to keep
 * @throws {RangeError} An exception names no promise
 * @throws {TypeError} An exception has an empty reason
 */
export function storeContract({
  create,
  destroy,
  except = {},
}: StoreContractOptions): readonly StoreCase[] {
  for (const [name, reason] of Object.entries(except)) {
    if (!Object.hasOwn(CASES, name))
      throw new RangeError(`Cannot except "${name}": no store promises that`)
    if (reason?.trim() === '') {
      throw new TypeError(`Cannot except "${name}": its reason is empty`)
    }
  }
  const names = (Object.keys(CASES) as Guarantee[]).filter((name) => except[name] === undefined)
  return names.map((name) => ({
    name,
    async run() {
      const store = await create()
      try {
        await CASES[name](store)
      } finally {
        await destroy?.(store)
      }
    },
  }))
}
