/**
 * The OpenAPI description of one server: the generated file `openapi.json`, without the routes that this server lacks.
 */
import { objectOf } from './base/fields.ts'
import { parseOwnJson } from './base/json.ts'
import { readFile } from './base/read-files.ts'

/**
 * Makes the function that returns the description as JSON. Its first call reads the file.
 * @param routes method and pattern of every route of this server
 */
export function createDescription(routes: readonly string[]): () => Promise<Buffer> {
  let description: Buffer | undefined
  return async () => {
    if (description !== undefined) return description
    const file = await readFile(new URL('./schema/generated/openapi.json', import.meta.url))
    return (description = withoutStrangers(file, new Set(routes.map((route) => route.replaceAll('...}', '}')))))
  }
}

function withoutStrangers(file: Buffer, routes: ReadonlySet<string>): Buffer {
  const { paths, ...document } = objectOf(parseOwnJson(file.toString('utf8')))
  let isWhole = true
  const there = Object.entries(objectOf(paths)).flatMap(([path, item]) => {
    const methods = Object.entries(objectOf(item)).filter(([method]) => routes.has(`${method.toUpperCase()} ${path}`))
    if (methods.length < Object.keys(objectOf(item)).length) isWhole = false
    return methods.length === 0 ? [] : [[path, Object.fromEntries(methods)] as const]
  })
  return isWhole ? file : Buffer.from(JSON.stringify({ ...document, paths: Object.fromEntries(there) }))
}
