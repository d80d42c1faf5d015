/** Converts parts of messages for wire formats other than OpenAI's. The functions do not throw for invalid parts. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

/** An image: its bytes as base64, or its URL. */
export type ImageSource =
  | { readonly mediaType: string; readonly base64: string }
  | { readonly url: string }

/**
 * Returns the type and the bytes of a base64 data URL (RFC 2397). Other URLs are returned unchanged. `image/jpg`, which
 * some clients send, becomes `image/jpeg`.
 */
export function imageSource(url: string): ImageSource {
  const comma = url.indexOf(',')
  const [mediaType, ...parameters] = url.slice(0, Math.max(comma, 0)).split(';')
  if (!mediaType?.startsWith('data:') || parameters.at(-1) !== 'base64') return { url }
  const type = mediaType.slice('data:'.length).toLowerCase()
  return { mediaType: type === 'image/jpg' ? 'image/jpeg' : type, base64: url.slice(comma + 1) }
}

/** Returns the arguments of a call as an object; empty for arguments that are no JSON object. */
export function argumentsOf(call: { readonly arguments: string }): JsonObject {
  try {
    const value: JsonValue = JSON.parse(call.arguments)
    return isJsonObject(value) ? value : {}
  } catch {
    return {} // Providers want an object, also for broken arguments.
  }
}
