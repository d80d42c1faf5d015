/**
 * The arguments of a tool call as a model wrote them: JSON, or nearly (contract: tests.md, "Model input and tool-call
 * repair").
 *
 * Slips are mended whose meaning is plain: raw control characters inside a string, text behind the object, a list or an
 * object that came as text, lines of a text that came as a list. No value is ever guessed; what is left broken is told
 * without quoting it, because it may hold what nobody should see.
 */
import { isJsonObject, isObject, parseJson, toJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'

export type ReadArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly problem: string }

/** The text of arguments that every provider takes back: a JSON object, mended if it was none, else empty. */
export function soundArguments(text: string): string {
  if (isObject(parsed(text)?.json)) return text
  const read = readArguments(text)
  return read.ok ? JSON.stringify(read.args) : '{}'
}

/** An empty text stands for no arguments. */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { ok: true, args: {} }
  const value = parsed(text) ?? parsed(mended(text))
  if (value === undefined) return { ok: false, problem: 'Expected the arguments as a JSON object: they are not valid JSON' }
  if (!isObject(value.json)) return { ok: false, problem: 'Expected the arguments as a JSON object' }
  return { ok: true, args: toJsonObject(value.json) }
}

/** The arguments with those that came in another form than the tool's parameters say, as far as the meaning is plain. */
export function fitArguments(args: JsonObject, parameters: JsonObject): JsonObject {
  const properties = isJsonObject(parameters['properties']) ? parameters['properties'] : {}
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, fit(value, properties[name])]))
}

function fit(value: JsonValue, property: JsonValue | undefined): JsonValue {
  const type = isJsonObject(property) ? property['type'] : undefined
  if (type === 'string' && Array.isArray(value) && value.every((line) => typeof line === 'string')) return value.join('\n')
  if (typeof value !== 'string' || (type !== 'array' && type !== 'object')) return value
  const decoded = (parsed(value) ?? parsed(mended(value)))?.json
  if (type === 'array' ? !Array.isArray(decoded) : !isObject(decoded)) return value
  return toJsonObject({ decoded })['decoded'] ?? value
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
