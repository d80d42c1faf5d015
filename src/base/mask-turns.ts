/**
 * Masks a long JSON value in several turns of the event loop, so that nobody waits for one of 16 MiB.
 *
 * The result is that of `maskJson`: a long text is masked as a stream of pieces, which gives the same as the whole.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject } from './json.ts'
import { maskJson } from './mask-json.ts'
import type { MaskingStream } from './masking.ts'

/** How a text is masked, at once and in pieces. */
export interface MaskingWays {
  readonly mask: (text: string) => string
  readonly stream: () => MaskingStream
}

/** What is dealt with in one turn: some milliseconds of work. */
export const turnWeight = 1_000_000
/** What a value costs besides its characters. */
const valueWeight = 100

/** How much there is to be masked: about its characters. Nothing is counted further than `turnWeight`. */
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
  if (typeof value === 'string') return maskTextInTurns(value, ways)
  if (weightOf(value) <= turnWeight) {
    await nextTurn()
    return maskJson(value, ways.mask)
  }
  const masked: [string, unknown][] = []
  for (const part of partsOf(value)) masked.push(...(await maskPart(part, ways)))
  if (Array.isArray(value)) return masked.map(([, member]) => member)
  return Object.fromEntries(masked)
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

type Members = readonly [string, unknown][]

/** The members of a value in runs that are each light, or a single heavy one. */
function partsOf(value: unknown): readonly Members[] {
  const parts: [string, unknown][][] = [[]]
  let weight = 0
  for (const member of Object.entries(isObject(value) || Array.isArray(value) ? value : {})) {
    weight += member[0].length + weightOf(member[1])
    if (weight > turnWeight) {
      parts.push([])
      weight = weightOf(member[1])
    }
    parts.at(-1)?.push(member)
  }
  return parts
}

async function maskPart(part: Members, ways: MaskingWays): Promise<Members> {
  const [only] = part
  if (only !== undefined && part.length === 1) return [[ways.mask(only[0]), await maskJsonInTurns(only[1], ways)]]
  await nextTurn()
  return part.map(([name, member]) => [ways.mask(name), maskJson(member, ways.mask)])
}
