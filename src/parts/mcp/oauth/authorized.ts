/**
 * Sends requests to an MCP server with its bearer token, if it has a token.
 *
 * After a 401 the token is renewed and the request is sent once more. The token is sent to the server's own origin
 * only; a redirect to another origin drops it (parts/net/redirect).
 */
import { openRequest, type OutboundRequest, type OutboundStream } from '../../net/outbound.ts'
import type { Bearer } from './logins.ts'

/** Opens the request, with the token if there is one. @throws the errors of `openRequest` and of `bearer` */
export async function openAuthorized(
  request: OutboundRequest & { readonly signal: AbortSignal }, bearer: Bearer | undefined,
): Promise<OutboundStream> {
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
