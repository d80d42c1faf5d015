/** Tells which addresses an element may have. A pure function. */

const safeSchemes = ['http:', 'https:', 'mailto:', 'blob:']

/**
 * Tells whether an address has a safe scheme or is a data URL of an image. A relative address has the scheme of `base`.
 */
export function isSafeAddress(address: string, base: string): boolean {
  try {
    const { protocol } = new URL(address, base)
    return safeSchemes.includes(protocol) || /^data:image\/(?:png|jpeg|gif|webp);/i.test(address)
  } catch {
    return false // The address cannot be parsed.
  }
}
