/** Tells which addresses may stand in an attribute such as `href` or `src`. A pure function. */

const safeSchemes = ['http:', 'https:', 'mailto:', 'blob:']

/** Tells whether an address, resolved against `base`, has a safe scheme or is a PNG, JPEG, GIF or WebP data URL. */
export function isSafeAddress(address: string, base: string): boolean {
  try {
    const { protocol } = new URL(address, base)
    return safeSchemes.includes(protocol) || /^data:image\/(?:png|jpeg|gif|webp);/i.test(address)
  } catch {
    return false // The address cannot be parsed.
  }
}
