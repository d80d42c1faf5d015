/**
 * Who besides its owner may use a file or a folder, by the bits of its mode (POSIX, `st_mode`).
 *
 * The group counts as others: who is in it is decided elsewhere. Access control lists, the owner and the folders above are
 * not looked at. Reads nothing by itself.
 */

/** `write` includes `read`: what others may write is the worse of both. */
export type OthersMay = 'write' | 'read' | 'nothing'

export function othersMay(mode: number): OthersMay {
  if ((mode & 0o022) !== 0) return 'write'
  return (mode & 0o077) !== 0 ? 'read' : 'nothing'
}

/** As chmod(1) takes it: `0777`. */
export function formatMode(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`
}
