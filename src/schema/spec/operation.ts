/** Functions that build OpenAPI operations (GET or POST, with a 200 response) and the schemas of responses. */
import { ref, type ResponseSchema, type Endpoint, type Schema } from './define.ts'

export const success: ResponseSchema = responseOf('Done', ref('Success'))

export type Operation = Omit<Endpoint, 'tag'>

export function inGroup(tag: string, operations: readonly Operation[]): Endpoint[] {
  return operations.map((operation) => ({ ...operation, tag }))
}

export function get(path: string, summary: string, body: Schema): Operation {
  return { method: 'GET', path, summary, responses: { 200: responseOf('Successful Response', body) } }
}

export function post(path: string, summary: string, request?: string): Operation {
  const operation: Operation = { method: 'POST', path, summary, responses: { 200: success } }
  return request === undefined ? operation : { ...operation, request: ref(request) }
}

export function conflict(doc: string): ResponseSchema {
  return responseOf(doc, ref('ErrorDetail'))
}

export function responseOf(doc: string, body: Schema): ResponseSchema {
  return { doc, body }
}
