/**
 * Checks the names of an archive's entries: each name must lead to the archive's top folder or below it.
 *
 * Only a folder may be listed twice. Paths that differ only in case or in Unicode normalization are refused.
 */
import { entryLimit, unusable, type EntryKind } from './entry.ts'

const depthLimit = 32
const partLimitBytes = 255

/** The paths that were added with `take`, and the paths of their parent folders. */
export class Names {
  readonly #taken = new Map<string, { readonly path: string; readonly kind: EntryKind }>()

  /**
   * Adds the name of an entry. Returns the parts of the entry's path; an empty array for the top folder.
   * @throws AppError `bad_request` for a name that is refused, and above `entryLimit` names
   */
  take(name: string, kind: EntryKind): readonly string[] {
    const parts = partsOf(name)
    for (let depth = 1; depth < parts.length; depth++) this.#takeOne(parts.slice(0, depth), 'folder')
    if (parts.length > 0) this.#takeOne(parts, kind)
    else if (kind !== 'folder') throw refused(name, 'it names the top folder')
    return parts
  }

  #takeOne(parts: readonly string[], kind: EntryKind): void {
    const path = parts.join('/')
    const key = path.normalize('NFC').toLowerCase()
    const there = this.#taken.get(key)
    if (there === undefined) {
      if (this.#taken.size === entryLimit) throw unusable(`it has more than ${entryLimit} entries`)
      this.#taken.set(key, { path, kind })
      return
    }
    if (there.path !== path) throw refused(path, `it differs from "${shown(there.path)}" in case or form only`)
    if (there.kind !== 'folder' || kind !== 'folder') throw refused(path, 'it is there twice, or goes through a file')
  }
}

/** Checks that the link at `parts` leads to a path inside the archive. @throws AppError `bad_request` */
export function assertInside(parts: readonly string[], target: string): void {
  const name = parts.join('/')
  if (target === '' || isRooted(target) || hasBadCharacter(target)) throw refused(name, 'it is a link to elsewhere')
  let depth = parts.length - 1
  for (const part of target.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) throw refused(name, 'it is a link that leads out of the archive')
  }
}

/**
 * Returns the parts of a relative path, without `.` and empty parts.
 * @throws AppError `bad_request` for a path that is empty, absolute or too deep, or has `..`, a refused character or a
 * part that is too long
 */
export function partsOf(name: string): readonly string[] {
  if (name === '') throw refused(name, 'it is empty')
  if (isRooted(name)) throw refused(name, 'it is absolute')
  if (hasBadCharacter(name)) throw refused(name, 'it has a backslash or a control character')
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw refused(name, 'it has ".."')
  if (parts.length > depthLimit) throw refused(name, `it is deeper than ${depthLimit} folders`)
  if (parts.some((part) => Buffer.byteLength(part) > partLimitBytes)) throw refused(name, 'a part of it is too long')
  return parts
}

function isRooted(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:/.test(path)
}

function hasBadCharacter(path: string): boolean {
  return /[\\\p{Cc}]/u.test(path)
}

function refused(name: string, why: string): Error {
  return unusable(`the name "${shown(name)}" in it cannot be used: ${why}`)
}

/** Returns at most 200 characters of a name for an error message. Control characters and the like become `?`. */
function shown(name: string): string {
  return name.replace(/\p{C}/gu, '?').slice(0, 200)
}
