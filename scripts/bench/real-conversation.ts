/**
 * The real server as a child, with one conversation in it that has a history.
 */
import { isObject } from '../../src/base/json.ts'
import { startChild, type Child } from './child.ts'

export interface RealConversation {
  readonly child: Child
  readonly port: number
  readonly key: string
  readonly conversationId: string
}

/** Each message is two events. */
export async function startRealServer({ messages }: { readonly messages: number }): Promise<RealConversation> {
  const child = startChild('real-server')
  await child.ask('fill', messages)
  const where = await child.ask('where')
  if (!isObject(where)) throw new TypeError('The server does not say where it is')
  return {
    child, port: Number(where['port']), key: String(where['key']), conversationId: String(where['conversationId']),
  }
}
