/**
 * Reads the arguments of a tool call, and repairs common faults (contract/tests.md, "Model input and tool-call
 * repair").
 *
 * Errors do not quote the arguments, because arguments may hold a secret.
 */
import { isJsonObject, isObject, parseJson, toJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

export type ReadArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly problem: string }

/** Returns `text` if it is a JSON object, else the repaired arguments as JSON, or `{}` if they cannot be repaired. */
export function soundArguments(text: string): string {
  if (isObject(parsed(text)?.json)) return text
  const read = readArguments(text)
  return read.ok ? JSON.stringify(read.args) : '{}'
}

/** Parses and repairs arguments. A blank text gives an empty object. */
export function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { ok: true, args: {} }
  const value = parsed(text) ?? parsed(mended(text))
  if (value === undefined) {
    return { ok: false, problem: 'Expected the arguments as a JSON object: they are not valid JSON' }
  }
  if (!isObject(value.json)) return { ok: false, problem: 'Expected the arguments as a JSON object' }
  return { ok: true, args: toJsonObject(value.json) }
}

/** Fits arguments to their declared types. Joins a list of strings into a string. Parses JSON for a list or object. */
export function fitArguments(args: JsonObject, parameters: JsonObject): JsonObject {
  const properties = isJsonObject(parameters['properties']) ? parameters['properties'] : {}
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, fit(value, properties[name])]))
}

function fit(value: JsonValue, property: JsonValue | undefined): JsonValue {
  const type = isJsonObject(property) ? property['type'] : undefined
  if (type === 'string' && Array.isArray(value) && value.every((line) => typeof line === 'string')) {
    return value.join('\n')
  }
  if (typeof value !== 'string' || (type !== 'array' && type !== 'object')) return value
  const decoded = (parsed(value) ?? parsed(mended(value)))?.json
  if (type === 'array' ? !Array.isArray(decoded) : !isObject(decoded)) return value
  return toJsonObject({ decoded })['decoded'] ?? value
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: parseJson(text) }
  } catch {
    return undefined // `parseJson` refused the text.
  }
}

/** Keeps only the JSON object or list at the beginning of the text. Escapes control characters in JSON strings. */
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
