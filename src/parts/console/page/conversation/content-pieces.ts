/** Makes the pieces (piece.ts) that show the content of a tool's result. Pure functions. */
import { isObject, type Members } from '../values.ts'
import type { Piece } from './piece.ts'
import { contentImages, contentText } from './fields.ts'

export function images(observation: Members): readonly Piece[] {
  return contentImages(observation, 'content').map((src) => ({ type: 'image', src, alt: 'Image of the result' }))
}

/** Returns the text and the images of a result. A JSON object or array below 1,000,000 characters is shown as JSON. */
export function content(observation: Members): readonly Piece[] {
  const text = contentText(observation, 'content')
  const pictures = images(observation)
  if (text === '') return pictures
  const value = /^\s*[[{]/.test(text) && text.length < 1_000_000 ? parsed(text) : undefined
  const isJson = isObject(value) || Array.isArray(value)
  return [isJson ? { type: 'json', label: 'Result', value } : { type: 'text', text }, ...pictures]
}

/** Parses a text as JSON. Returns the text itself when it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // Not JSON.
  }
}
