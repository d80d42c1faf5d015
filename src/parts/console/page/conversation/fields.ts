/**
 * Reads members of events, beside `values.ts`. A member of another type counts as missing. So an event of a newer
 * server, or one with a surprise in it, is shown as far as it can be read. Pure.
 */
import { isObject, listAt, memberAt, type Members } from '../values.ts'

/** Returns the text; undefined without one. */
export function optionalText(value: unknown, name: string): string | undefined {
  const member = memberAt(value, name)
  return typeof member === 'string' ? member : undefined
}

/** Returns the objects of a list. Members of another type are left out. */
export function objectsAt(value: unknown, name: string): readonly Members[] {
  return listAt(value, name).filter(isObject)
}

/** Returns the texts of a list. Members of another type are left out. */
export function textsAt(value: unknown, name: string): readonly string[] {
  return listAt(value, name).filter((member) => typeof member === 'string')
}

/** Returns the texts of a list of `Content`, one below the other. */
export function contentText(value: unknown, name: string): string {
  const texts = objectsAt(value, name).map((part) => optionalText(part, 'text'))
  return texts.filter((text) => text !== undefined).join('\n')
}

/** Returns the addresses of all images in a list of `Content`. */
export function contentImages(value: unknown, name: string): readonly string[] {
  return objectsAt(value, name).flatMap((part) => textsAt(part, 'image_urls'))
}

/** Returns the number of characters of all texts in a value: a measure of its memory. Stops at `depth` 0. */
export function charsIn(value: unknown, depth = 8): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || depth === 0) return 8
  return Object.values(value).reduce((sum: number, member) => sum + charsIn(member, depth - 1), 16)
}
