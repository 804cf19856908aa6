/** The first `length` hex characters of SHA-256 over the UTF-16 units of a text, so that lone surrogates count too. */
export async function digest(text: string, length = 32): Promise<string> {
  const units = new Uint8Array(text.length * 2)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    units[2 * i] = unit >> 8
    units[2 * i + 1] = unit & 255
  }
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', units))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, length)
}
