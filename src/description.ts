/**
 * The OpenAPI description of one server: the generated text `openapi`, without the routes that this server lacks. The
 * text is loaded with the first request.
 */
import { objectOf } from './base/fields.ts'
import { parseOwnJson } from './base/json.ts'

/**
 * Makes the function that returns the description as JSON. Its first call loads the text.
 * @param routes method and pattern of every route of this server
 */
export function createDescription(routes: readonly string[]): () => Promise<Buffer> {
  let description: Buffer | undefined
  return async () => {
    if (description !== undefined) return description
    const { openapi } = await import('./schema/generated/openapi.ts')
    return (description = withoutStrangers(openapi, new Set(routes.map((route) => route.replaceAll('...}', '}')))))
  }
}

function withoutStrangers(text: string, routes: ReadonlySet<string>): Buffer {
  const { paths, ...document } = objectOf(parseOwnJson(text))
  let isWhole = true
  const there = Object.entries(objectOf(paths)).flatMap(([path, item]) => {
    const methods = Object.entries(objectOf(item)).filter(([method]) => routes.has(`${method.toUpperCase()} ${path}`))
    if (methods.length < Object.keys(objectOf(item)).length) isWhole = false
    return methods.length === 0 ? [] : [[path, Object.fromEntries(methods)] as const]
  })
  return Buffer.from(isWhole ? text : JSON.stringify({ ...document, paths: Object.fromEntries(there) }))
}
