/**
 * Sends requests to an MCP server with its bearer token. After a 401 the token is renewed, and the request is sent once
 * more.
 *
 * A redirect to another origin drops the token (parts/net/redirect).
 */
import { openRequest, type OutboundRequest, type OutboundStream } from '../../net/outbound.ts'
import type { Bearer } from './logins.ts'

/** Opens the request, with a token if there is a `bearer`. @throws the errors of `openRequest` and of `bearer` */
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
