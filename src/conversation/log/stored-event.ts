/**
 * Checks events that were read from the log.
 *
 * A file is input from outside, so its events are checked again.
 */
import { isEvent, toEvent, type Event } from '../../schema/generated/events.ts'

/** Returns the value as a stored event; undefined for an invalid event, or an event without an id or a time. */
export function storedEvent(value: unknown): Event | undefined {
  if (!isEvent(value)) return undefined
  const { id, timestamp } = value
  return id === undefined || timestamp === undefined ? undefined : toEvent({ ...value, id, timestamp })
}
