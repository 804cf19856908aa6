const ISO = /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * The milliseconds since 1970 of a Date, or of an ISO 8601 time with `Z` or an offset. The same in every time zone.
 *
 * @throws RangeError for anything else, days that don't exist included
 */
export function instantFrom(time: string | Date): number {
  const text = time instanceof Date ? undefined : ISO.exec(time)
  const ms = time instanceof Date ? time.getTime() : text ? Date.parse(time) : Number.NaN
  const wrongDay =
    text && Number(text[3]) > new Date(Date.UTC(Number(text[1]), Number(text[2]), 0)).getUTCDate()
  if (Number.isNaN(ms) || wrongDay) {
    throw new RangeError(
      `Cannot wait until ${time instanceof Date ? 'an invalid Date' : JSON.stringify(time)}: it is no ISO 8601 time with "Z" or an offset`,
    )
  }
  return ms
}
