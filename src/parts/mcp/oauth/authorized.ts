/**
 * Requests to an MCP server that carry a bearer token, where it has one.
 *
 * A token that the server refuses (401) is renewed, and the request sent once more: nothing of it was done. The token goes to
 * the server's own address only; a redirect to another origin loses it (net/redirect).
 */
import { openRequest, type OutboundRequest, type OutboundStream } from '../../../net/outbound.ts'
import type { Bearer } from './logins.ts'

/** @throws as `openRequest`, and as the methods of `bearer` */
export async function openAuthorized(request: OutboundRequest & { readonly signal: AbortSignal }, bearer: Bearer | undefined): Promise<OutboundStream> {
  if (bearer === undefined) return openRequest(request)
  const token = await bearer.token(request.signal)
  const stream = await openRequest(withToken(request, token))
  if (stream.status !== 401) return stream
  stream.close()
  return openRequest(withToken(request, await bearer.renewed(token, request.signal)))
}

function withToken(request: OutboundRequest, token: string): OutboundRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }
}
