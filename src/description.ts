/** The OpenAPI description of one server: the generated text `openapi`, without the routes that this server lacks. */
import { objectOf } from './base/fields.ts'
import { parseOwnJson } from './base/json.ts'

/**
 * Returns a function for the OpenAPI description as JSON. Its first call makes the JSON from the text `openapi`.
 * @param routes method and pattern of every route of this server
 * @param basePath the prefix of the paths of all routes; empty without a prefix
 */
export function createDescription(routes: readonly string[], basePath: string): () => Promise<Buffer> {
  let description: Buffer | undefined
  return async () => {
    if (description !== undefined) return description
    const { openapi } = await import('./schema/generated/openapi.ts')
    const known = new Set(routes.map((route) => route.replaceAll('...}', '}')))
    return (description = withoutStrangers(openapi, known, basePath))
  }
}

function withoutStrangers(text: string, routes: ReadonlySet<string>, basePath: string): Buffer {
  const { paths, ...document } = objectOf(parseOwnJson(text))
  let isWhole = basePath === ''
  const there = Object.entries(objectOf(paths)).flatMap(([path, item]) => {
    const methods = Object.entries(objectOf(item)).filter(([method]) => routes.has(`${method.toUpperCase()} ${path}`))
    if (methods.length < Object.keys(objectOf(item)).length) isWhole = false
    return methods.length === 0 ? [] : [[path, Object.fromEntries(methods)] as const]
  })
  const servers = basePath === '' ? {} : { servers: [{ url: basePath }] }
  return Buffer.from(isWhole ? text : JSON.stringify({ ...document, ...servers, paths: Object.fromEntries(there) }))
}
