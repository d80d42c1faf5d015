/**
 * Converts message parts for formats other than OpenAI's: an image into its type and data, call arguments into an
 * object.
 *
 * The functions never throw, because a message may come from any model.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

/** An image: its bytes as base64, or its URL. */
export type ImageSource =
  | { readonly mediaType: string; readonly base64: string }
  | { readonly url: string }

/**
 * Returns the type and the bytes of a data URL (RFC 2397). Any other URL is returned as a URL, and so is a data URL
 * that is not base64. `image/jpg`, which some clients send, becomes `image/jpeg`.
 */
export function imageSource(url: string): ImageSource {
  const comma = url.indexOf(',')
  const [mediaType, ...parameters] = url.slice(0, Math.max(comma, 0)).split(';')
  if (!mediaType?.startsWith('data:') || parameters.at(-1) !== 'base64') return { url }
  const type = mediaType.slice('data:'.length).toLowerCase()
  return { mediaType: type === 'image/jpg' ? 'image/jpeg' : type, base64: url.slice(comma + 1) }
}

/**
 * Returns the arguments of a call as an object, which Anthropic and Gemini require. Arguments that are no JSON object
 * give an empty object.
 */
export function argumentsOf(call: { readonly arguments: string }): JsonObject {
  try {
    const value: JsonValue = JSON.parse(call.arguments)
    return isJsonObject(value) ? value : {}
  } catch {
    return {} // Providers want an object, also for broken arguments.
  }
}
