/**
 * Reads events back from the log.
 *
 * Stored events are in canonical form, but a file is input from outside, so each event is checked again.
 */
import { isEvent, toEvent, type Event } from '../../schema/generated/events.ts'

/** Returns a stored event; undefined for a value that is no valid event with an id and a time. */
export function storedEvent(value: unknown): Event | undefined {
  if (!isEvent(value)) return undefined
  const { id, timestamp } = value
  return id === undefined || timestamp === undefined ? undefined : toEvent({ ...value, id, timestamp })
}
