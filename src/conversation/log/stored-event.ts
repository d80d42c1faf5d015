/**
 * Parses and checks events that were read from the log.
 *
 * The server wrote the events in canonical form. They are checked again, because a file is input from outside.
 */
import { isEvent, toEvent, type Event } from '../../schema/generated/events.ts'

/** Returns a stored event; undefined for a value that is no valid event with an id and a time. */
export function storedEvent(value: unknown): Event | undefined {
  if (!isEvent(value)) return undefined
  const { id, timestamp } = value
  return id === undefined || timestamp === undefined ? undefined : toEvent({ ...value, id, timestamp })
}
