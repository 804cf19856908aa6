/** The first 32 hex characters of SHA-256 over the UTF-16 units of a text, so that lone surrogates count too. */
export async function digest(text: string): Promise<string> {
  const units = new DataView(new ArrayBuffer(text.length * 2))
  for (let i = 0; i < text.length; i++) units.setUint16(2 * i, text.charCodeAt(i))
  return sum(units)
}

/** The first 32 hex characters of SHA-256 over bytes. */
export async function sum(data: BufferSource): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', data))
  return Array.from(bytes.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
