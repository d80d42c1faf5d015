/**
 * Tells from the mode bits of a file or folder whether users other than its owner may use it (POSIX, `st_mode`).
 *
 * The group counts as other users, because its members are unknown here. Access control lists and the folders above are
 * ignored. This file reads nothing itself.
 */

/** The most that users other than the owner may do. `read` means: read or execute, but not write. */
export type OthersMay = 'write' | 'read' | 'nothing'

export function othersMay(mode: number): OthersMay {
  if ((mode & 0o022) !== 0) return 'write'
  return (mode & 0o077) !== 0 ? 'read' : 'nothing'
}

/** Returns the mode in the form of chmod(1): `0777`. */
export function formatMode(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`
}
