/**
 * Tells from mode bits (POSIX, `st_mode`) whether users other than the owner may use a file or folder.
 *
 * The group counts as other users. Access control lists are ignored.
 */

/** The strongest permission of users other than the owner. Execute counts as `read`. */
export type OthersMay = 'write' | 'read' | 'nothing'

export function othersMay(mode: number): OthersMay {
  if ((mode & 0o022) !== 0) return 'write'
  return (mode & 0o077) !== 0 ? 'read' : 'nothing'
}

/** Returns the nine permission bits in octal, with a zero before them: `0777`. */
export function formatMode(mode: number): string {
  return `0${(mode & 0o777).toString(8).padStart(3, '0')}`
}
