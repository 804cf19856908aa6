/** Where the machinery of calls finds what belongs to a context but isn't for its users. */
export const INSIDE: unique symbol = /* @__PURE__ */ Symbol.for('heddle.inside') as never
