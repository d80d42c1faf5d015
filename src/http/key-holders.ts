/**
 * Connections on which a session key was shown, told from those of strangers.
 *
 * When a server is full, a stranger's connection is closed for a new one, so that peers without a key cannot shut out those
 * who have one. Where no key is asked for everybody counts as a holder.
 */
import type { Duplex } from 'node:stream'

const holders = new WeakSet<Duplex>()

export function noteKeyHolder(connection: Duplex): void {
  holders.add(connection)
}

/** The stranger that has been there longest, of connections in the order in which they came; undefined if there is none. */
export function oldestStranger(connections: Iterable<Duplex>): Duplex | undefined {
  for (const connection of connections) if (!holders.has(connection)) return connection
  return undefined
}
