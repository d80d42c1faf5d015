/**
 * A server connection of src/ws and the test client at its other end, over loopback.
 *
 * The calls to the owner of a connection are recorded: its messages, and how it closed. `stop` ends both ends and the
 * server, so that a test file can end.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { deferred } from '../../src/base/wait.ts'
import type { Message } from '../../src/ws/assembler.ts'
import type { Compression } from '../../src/ws/compression.ts'
import type { WebSocketConnection } from '../../src/ws/connection.ts'
import { defaultLimits, type ConnectionLimits } from '../../src/ws/limits.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'
import type { UpgradeOptions } from '../../src/ws/upgrade.ts'
import type { Suite } from './suite.ts'
import { connect } from './ws-client.ts'
import type { Client, Close } from './ws-client.ts'

export interface Pair {
  readonly connection: WebSocketConnection
  readonly client: Client
  /** The server's end of the TCP connection. */
  readonly socket: Duplex
  readonly messages: Message[]
  /** Of the options. */
  readonly compression: Compression | undefined
  /** The arguments of `onClose`. */
  readonly closed: Promise<Close>
  readonly stop: () => Promise<void>
}

/** Limits that are not the usual ones, and options that connections share. */
export type PairOptions = Omit<UpgradeOptions, 'limits'> & Partial<ConnectionLimits>

export async function openPair(
  { compression, departure, ...limits }: PairOptions = {}, headers: OutgoingHttpHeaders = {},
): Promise<Pair> {
  const options = { compression, limits: { ...defaultLimits, ...limits }, ...(departure && { departure }) }
  const server = createServer()
  const accepted = deferred<Omit<Pair, 'client' | 'stop'>>()
  server.on('upgrade', (request, socket, head) => {
    const upgrade = acceptUpgrade(request, socket, head, options)
    if (!upgrade.ok) return accepted.reject(new Error(upgrade.reason))
    const { connection } = upgrade
    const messages: Message[] = []
    const closed = deferred<Close>()
    connection.owner = {
      onMessage: (message) => void messages.push(message),
      onClose: (code, reason) => closed.resolve({ code, reason }),
    }
    accepted.resolve({ connection, socket, messages, compression, closed: closed.promise })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = await connect(`ws://127.0.0.1:${portOf(server.address())}/`, headers)
  const pair = await accepted.promise
  const stop = async (): Promise<void> => {
    client.destroy()
    pair.connection.terminate()
    await pair.closed
    server.close()
  }
  return { ...pair, client, stop }
}

/** Tests over a pair of their own, which is stopped in any case. */
export function overPair(test: Suite) {
  return (
    name: string,
    body: (pair: Pair) => Promise<void>,
    options?: PairOptions,
    headers?: OutgoingHttpHeaders,
  ): void =>
    test(name, async () => {
      const pair = await openPair(options, headers)
      try {
        await body(pair)
      } finally {
        await pair.stop()
      }
    })
}

/** Waits until the server has handled everything that the client sent so far. */
export async function settle({ client }: Pair): Promise<void> {
  const count = client.pongs.length
  client.ping('settle')
  await client.until(() => client.pongs.length > count)
}

export function textsOf(messages: Message[]): string[] {
  return messages.map((message) => (message.kind === 'text' ? message.text : message.data.toString('hex')))
}

export function portOf(address: AddressInfo | string | null): number {
  if (typeof address !== 'object' || address === null) throw new TypeError('The server listens on no port')
  return address.port
}
