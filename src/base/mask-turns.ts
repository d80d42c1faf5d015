/**
 * Masks long texts and JSON values in several turns of the event loop, so that 16 MiB do not block the loop.
 *
 * One turn masks texts whose weights (`weightOf`) have a sum of about `turnWeight`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject, parseJson } from './json.ts'
import { maskJson } from './mask-json.ts'
import type { MaskingStream } from './masking.ts'

/** Two ways to mask a text: at once and in pieces. */
export interface MaskingWays {
  readonly mask: (text: string) => string
  readonly stream: () => MaskingStream
}

/** The approximate weight (`weightOf`) of the values to mask in one turn of the event loop. */
export const turnWeight = 65_536
/** The weight that each value has in addition to its characters. */
const valueWeight = 100

/** Counts the characters of all texts and names in a value, plus `valueWeight` per value. Stops above `turnWeight`. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length + valueWeight
  if (typeof value !== 'object' || value === null) return valueWeight
  let weight = valueWeight
  for (const [name, member] of Object.entries(value)) {
    weight += name.length + weightOf(member)
    if (weight > turnWeight) break
  }
  return weight
}

export async function maskJsonInTurns(value: unknown, ways: MaskingWays): Promise<unknown> {
  return maskJson(value, await maskedTexts(value, ways))
}

export async function maskTextInTurns(text: string, { mask, stream }: MaskingWays): Promise<string> {
  if (text.length <= turnWeight) return mask(text)
  const masking = stream()
  let masked = ''
  for (let start = 0; start < text.length; start += turnWeight) {
    masked += masking.push(text.slice(start, start + turnWeight))
    await nextTurn()
  }
  return masked + masking.end()
}

/** Masks a JSON text so that the result is JSON. A text that `parseJson` refuses is masked as plain text. */
export async function maskJsonTextInTurns(text: string, ways: MaskingWays): Promise<string> {
  const masked = await maskTextInTurns(text, ways)
  if (masked === text) return text
  try {
    return JSON.stringify(await maskJsonInTurns(parseJson(text), ways))
  } catch {
    return masked // `parseJson` refused the text.
  }
}

/**
 * Resolves to a function that masks the texts in `value`. If `value` is long, first masks all its texts in several
 * turns of the event loop. The function then returns the stored results.
 */
export async function maskedTexts(value: unknown, ways: MaskingWays): Promise<(text: string) => string> {
  if (weightOf(value) <= turnWeight) return ways.mask
  const masked = new Map<string, string>()
  let weight = 0
  for (const text of textsOf(value)) {
    const added = text.length + valueWeight
    if (weight + added > turnWeight) {
      await nextTurn()
      weight = 0
    }
    weight += added
    masked.set(text, text.length > turnWeight ? await maskTextInTurns(text, ways) : ways.mask(text))
  }
  return (text) => masked.get(text) ?? ways.mask(text)
}

/** Returns the texts that `maskJson` masks: the distinct strings, names of members and numbers in a value. */
function textsOf(value: unknown): Set<string> {
  const texts = new Set<string>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string' || typeof next === 'number') texts.add(String(next))
    else if (Array.isArray(next)) for (const item of next) open.push(item)
    else if (isObject(next)) for (const [name, member] of Object.entries(next)) open.push(name, member)
  }
  return texts
}
