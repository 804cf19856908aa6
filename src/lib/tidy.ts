/** A record whose members may all be undefined. */
export type Loose<Row> = { readonly [Key in keyof Row]: Row[Key] | undefined }

/** Drops the undefined members of a fresh record: what is absent isn't there. */
export function tidy<Row extends object>(row: Loose<Row>): Row {
  for (const key in row) if (row[key] === undefined) delete (row as Partial<Row>)[key]
  return row as Row
}
