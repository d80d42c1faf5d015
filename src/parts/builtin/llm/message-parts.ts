/**
 * Converts message parts for formats other than OpenAI's: an image split into type and data, call arguments as an
 * object. Nothing here throws, since a message may come from any model.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

/** An image: its bytes as base64, or its URL. */
export type ImageSource =
  | { readonly mediaType: string; readonly base64: string }
  | { readonly url: string }

/**
 * Splits a data URL (RFC 2397). A data URL that is not base64 stays a URL, which a provider will refuse. `image/jpg`,
 * which some clients send, becomes `image/jpeg`.
 */
export function imageSource(url: string): ImageSource {
  const comma = url.indexOf(',')
  const [mediaType, ...parameters] = url.slice(0, Math.max(comma, 0)).split(';')
  if (!mediaType?.startsWith('data:') || parameters.at(-1) !== 'base64') return { url }
  const type = mediaType.slice('data:'.length).toLowerCase()
  return { mediaType: type === 'image/jpg' ? 'image/jpeg' : type, base64: url.slice(comma + 1) }
}

/**
 * Returns the arguments of a call as an object, which Anthropic and Gemini require; an empty object if they are not
 * one. The history has an error as the result of such a call.
 */
export function argumentsOf(call: { readonly arguments: string }): JsonObject {
  try {
    const value: JsonValue = JSON.parse(call.arguments)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
