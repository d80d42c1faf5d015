/**
 * What formats other than OpenAI's need of a message: an image taken apart, the arguments of a call as an object.
 * Nothing here throws, since a message may come from any model.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

/** The bytes of an image as base64, or the address where they are. */
export type ImageSource =
  | { readonly mediaType: string; readonly base64: string }
  | { readonly url: string }

/**
 * Takes a data URL apart (RFC 2397); one that is not base64 stays an address, which a provider will refuse. `image/jpg`,
 * which clients write for `image/jpeg`, is no media type to them.
 */
export function imageSource(url: string): ImageSource {
  const comma = url.indexOf(',')
  const [mediaType, ...parameters] = url.slice(0, Math.max(comma, 0)).split(';')
  if (!mediaType?.startsWith('data:') || parameters.at(-1) !== 'base64') return { url }
  const type = mediaType.slice('data:'.length).toLowerCase()
  return { mediaType: type === 'image/jpg' ? 'image/jpeg' : type, base64: url.slice(comma + 1) }
}

/** The arguments of a call. Both wires want an object, and what a model sent was not always one: its error follows it. */
export function argumentsOf(call: { readonly arguments: string }): JsonObject {
  try {
    const value: JsonValue = JSON.parse(call.arguments)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
