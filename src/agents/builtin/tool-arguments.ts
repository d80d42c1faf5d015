/**
 * The arguments of a tool call as a model wrote them: JSON, or nearly (contract: tests.md, "Model input and tool-call
 * repair").
 *
 * Two slips are mended, since their meaning is plain: raw control characters inside a string, and text behind the object.
 * No value is ever guessed; what is left broken is told without quoting it, because it may hold what nobody should see.
 */
import { isObject, parseJson, toJsonObject, type JsonObject } from '../../base/json.ts'

export type ReadArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly problem: string }

/** An empty text stands for no arguments. */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { ok: true, args: {} }
  const value = parsed(text) ?? parsed(mended(text))
  if (value === undefined) return { ok: false, problem: 'Expected the arguments as a JSON object: they are not valid JSON' }
  if (!isObject(value.json)) return { ok: false, problem: 'Expected the arguments as a JSON object' }
  return { ok: true, args: toJsonObject(value.json) }
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: parseJson(text) }
  } catch {
    return undefined
  }
}

/** The text up to the end of its first object, with control characters in strings escaped. */
function mended(text: string): string {
  let result = ''
  let depth = 0
  let inString = false
  let isEscaped = false
  for (const character of text.trimStart()) {
    result += inString && character < ' ' ? escaped(character) : character
    if (inString) {
      inString = isEscaped || character !== '"'
      isEscaped = !isEscaped && character === '\\'
      continue
    }
    if (character === '"') inString = true
    if (character === '{' || character === '[') depth++
    if (character === '}' || character === ']') depth--
    if (depth === 0) break
  }
  return result
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
