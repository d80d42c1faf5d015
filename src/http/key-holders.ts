/**
 * Tells connections on which a session key was shown from connections of strangers.
 *
 * A full server closes a stranger's connection to make room for a new one, so that peers without a key cannot shut out
 * clients with a key. Where no key is required, every connection counts as a holder.
 */
import type { Duplex } from 'node:stream'

const holders = new WeakSet<Duplex>()

export function noteKeyHolder(connection: Duplex): void {
  holders.add(connection)
}

/** Returns the oldest connection of a stranger, from connections in order of arrival; undefined if there is none. */
export function oldestStranger(connections: Iterable<Duplex>): Duplex | undefined {
  for (const connection of connections) if (!holders.has(connection)) return connection
  return undefined
}
