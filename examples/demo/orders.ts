/** An order of the demo's shop. */
export interface Order {
  readonly id: string
  readonly customer: string
  readonly items: readonly string[]
  /** Dollars. */
  readonly total: number
  readonly placed: string
  readonly state: 'processing' | 'shipped' | 'delivered'
  readonly tracking?: string
  /** Why its money doesn't go back, where it doesn't. */
  readonly final?: string
}

/** Something that was done to an order, once. */
export interface Entry {
  /** Whoever comes again with the same key did it already. */
  readonly key: string
  readonly receipt: string
  readonly kind: 'refund' | 'cancel' | 'address'
  readonly order: string
  readonly amount?: number
  readonly address?: string
}

/** Where entries are kept: a list in a page, a file in a terminal. */
export interface Ledger {
  entries(): readonly Entry[]
  add(entry: Entry): void
}

/** What the agent can do in the shop. */
export interface Shop {
  find(id: string): Order | undefined
  /** The entry that settled an order, if there is one. */
  settled(id: string): Entry | undefined
  /** Does something and keeps it in the ledger: once for a key, and money goes back once for an order. */
  record(entry: Omit<Entry, 'receipt'>): Entry
}

export const orders: readonly Order[] = [
  {
    id: '77',
    customer: 'Ben Okoye',
    items: ['mug with your name on it'],
    total: 18,
    placed: '2 November',
    state: 'delivered',
    final: 'it was made for you',
  },
  {
    id: '78',
    customer: 'Ben Okoye',
    items: ['teapot'],
    total: 34.5,
    placed: '5 November',
    state: 'delivered',
  },
  {
    id: '1042',
    customer: 'Ann Larsen',
    items: ['desk lamp', 'bulb'],
    total: 59.9,
    placed: '9 November',
    state: 'delivered',
  },
  {
    id: '1043',
    customer: 'Ann Larsen',
    items: ['two linen shirts'],
    total: 48,
    placed: '12 November',
    state: 'delivered',
  },
  {
    id: '1044',
    customer: 'Carla Mendes',
    items: ['walnut shelf'],
    total: 139,
    placed: '20 November',
    state: 'processing',
  },
  {
    id: '1045',
    customer: 'Dai Nguyen',
    items: ['wool blanket'],
    total: 85,
    placed: '18 November',
    state: 'shipped',
    tracking: 'ZX-55120',
  },
  {
    id: '1046',
    customer: 'Dai Nguyen',
    items: ['gift card'],
    total: 25,
    placed: '18 November',
    state: 'delivered',
    final: 'gift cards are as good as money',
  },
  {
    id: '1047',
    customer: 'Eva Novak',
    items: ['notebook', 'three pencils'],
    total: 12.4,
    placed: '21 November',
    state: 'processing',
  },
  {
    id: '1048',
    customer: 'Farid Haddad',
    items: ['espresso machine'],
    total: 420,
    placed: '1 November',
    state: 'delivered',
  },
  {
    id: 'A-1042',
    customer: 'Gina Rossi',
    items: ['headphones'],
    total: 89.95,
    placed: '15 November',
    state: 'delivered',
  },
  {
    id: 'A-1043',
    customer: 'Gina Rossi',
    items: ['phone case'],
    total: 15,
    placed: '19 November',
    state: 'shipped',
    tracking: 'ZX-55198',
  },
  {
    id: 'A-1044',
    customer: 'Hugo Meyer',
    items: ['earplugs'],
    total: 9.5,
    placed: '16 November',
    state: 'delivered',
    final: 'they are an article of hygiene',
  },
]

/** The shop over a ledger. Nothing in it waits, so two of its calls can't come between each other. */
export function openShop(ledger: Ledger): Shop {
  const settled = (id: string): Entry | undefined =>
    ledger.entries().find(({ order, kind }) => order === id && kind !== 'address')
  return {
    find: (id) => orders.find((order) => order.id === id),
    settled,
    record(wanted) {
      const entries = ledger.entries()
      const done =
        entries.find(({ key }) => key === wanted.key) ??
        (wanted.kind === 'address' ? undefined : settled(wanted.order))
      if (done) return done
      const entry = { ...wanted, receipt: `R-${String(entries.length + 1).padStart(4, '0')}` }
      ledger.add(entry)
      return entry
    },
  }
}
