/** Reads members of events. A member of an unexpected type is read as missing. Pure functions. */
import { isObject, listAt, memberAt, type Members } from '../values.ts'

/** Returns the text of a member; undefined when the member is missing or no text. */
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

/** Returns the texts of a list of `Content`, joined by line breaks. */
export function contentText(value: unknown, name: string): string {
  const texts = objectsAt(value, name).map((part) => optionalText(part, 'text'))
  return texts.filter((text) => text !== undefined).join('\n')
}

/** Returns the addresses of all images in a list of `Content`. */
export function contentImages(value: unknown, name: string): readonly string[] {
  return objectsAt(value, name).flatMap((part) => textsAt(part, 'image_urls'))
}

/** Estimates the memory of a value in characters, down to `depth` levels. */
export function charsIn(value: unknown, depth = 8): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || depth === 0) return 8
  return Object.values(value).reduce((sum: number, member) => sum + charsIn(member, depth - 1), 16)
}
