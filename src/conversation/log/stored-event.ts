/**
 * Reads events back from the log.
 *
 * They are in canonical form already, but a file is input from outside, so they are checked again.
 */
import { isEvent, toEvent, type Event } from '../../schema/generated/events.ts'

/** Returns a stored event; undefined for a value that no version of this program wrote. */
export function storedEvent(value: unknown): Event | undefined {
  if (!isEvent(value)) return undefined
  const { id, timestamp } = value
  return id === undefined || timestamp === undefined ? undefined : toEvent({ ...value, id, timestamp })
}
