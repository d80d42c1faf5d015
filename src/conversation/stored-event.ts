/**
 * Events as they come back from the log.
 *
 * They are in canonical form already, but a file is outside of this program, so they are checked once more.
 */
import { isEvent, toEvent, type Event } from '../schema/generated/events.ts'

/** An event as it was stored; undefined for what no version of this program has written. */
export function storedEvent(value: unknown): Event | undefined {
  if (!isEvent(value)) return undefined
  const { id, timestamp } = value
  return id === undefined || timestamp === undefined ? undefined : toEvent({ ...value, id, timestamp })
}
