/**
 * Remembers the connections whose client has shown a valid key or a session of the console, or needs no key.
 *
 * A full server closes the oldest connection that is not among them, so that peers without a key cannot block others.
 */
import type { Duplex } from 'node:stream'

const holders = new WeakSet<Duplex>()

export function noteKeyHolder(connection: Duplex): void {
  holders.add(connection)
}

/** Returns the first connection that `noteKeyHolder` did not get; undefined if there is none. Pass the oldest first. */
export function oldestStranger(connections: Iterable<Duplex>): Duplex | undefined {
  for (const connection of connections) if (!holders.has(connection)) return connection
  return undefined
}
