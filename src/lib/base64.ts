/** Bytes as base64. In chunks, since an argument list has a limit; `toBase64` isn't everywhere yet. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode.apply(
      undefined,
      bytes.subarray(at, at + 4096) as unknown as number[],
    )
  return btoa(text)
}

/**
 * The bytes of a base64 text.
 *
 * @throws DOMException if it is none
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const units = atob(text)
  const bytes = new Uint8Array(units.length)
  for (let at = 0; at < units.length; at++) bytes[at] = units.charCodeAt(at)
  return bytes
}
