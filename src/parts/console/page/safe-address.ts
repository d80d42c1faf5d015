/** Tells which addresses an element may have. A pure function. */

const safeSchemes = ['http:', 'https:', 'mailto:', 'blob:']

/**
 * Tells whether an address is relative, has a scheme of `safeSchemes`, or is a data URL of an image. `base` is the
 * address of the document.
 */
export function isSafeAddress(address: string, base: string): boolean {
  try {
    const { protocol } = new URL(address, base)
    return safeSchemes.includes(protocol) || /^data:image\/(?:png|jpeg|gif|webp);/i.test(address)
  } catch {
    return false // An address that cannot be parsed is not safe.
  }
}
