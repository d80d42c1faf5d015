/** Makes the entries of the audit trail (`Deed`) for requests, and for messages on a conversation's socket. */
import { scopeOf } from '../access.ts'
import { headerValues } from '../http/headers.ts'
import type { Principal } from '../http/principal.ts'
import type { Exchange } from '../http/reply.ts'
import type { PathParameters } from '../http/router.ts'
import type { Deed, Trail } from '../http/trail.ts'
import type { Route } from './call.ts'

/**
 * Returns the entry in the audit trail for a request. Returns undefined for a GET that does not ask for secret values,
 * and for the rights `open` and `init`: without a key, strangers could fill the trail.
 */
export function deedOf(
  { request, requestId }: Exchange, { right, pattern, method }: Route,
  { principal, parameters }: { readonly principal: Principal; readonly parameters: PathParameters },
): Deed | undefined {
  if (right === 'open' || right === 'init') return undefined
  const asksForSecrets = right === 'secrets' || headerValues(request.rawHeaders, 'x-expose-secrets').length > 0
  if (method === 'GET' && !asksForSecrets) return undefined
  const scope = scopeOf[right]
  return {
    by: principal,
    address: request.socket.remoteAddress,
    operation: `${method} ${pattern}`,
    target: parameters,
    requestId,
    isGrave: asksForSecrets || scope === 'configure' || scope === 'admin',
  }
}

/** The sender of messages on a conversation's socket. */
export interface SocketMessage {
  readonly principal: Principal
  readonly address: string | undefined
  readonly conversationId: string
}

/**
 * Runs `work`, which handles a message. If the server has an audit trail, first records the message there, and after
 * `work` its status: 200, or 400 if `work` failed.
 * @throws the errors of the trail and of `work`
 */
export async function recorded(
  { writer }: Trail, { principal, address, conversationId }: SocketMessage, work: () => Promise<void>,
): Promise<void> {
  const end = await writer?.begin({
    by: principal, address, operation: 'MESSAGE /sockets/events/{conversation_id}',
    target: { conversation_id: conversationId }, requestId: undefined, isGrave: false,
  })
  try {
    await work()
    end?.(200)
  } catch (thrown) {
    end?.(400)
    throw thrown
  }
}
