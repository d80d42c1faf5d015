/**
 * Applies a condensation (the event `Condensation`) to a view, the history that a model is shown.
 *
 * Units (units.ts) with a forgotten event are removed whole. The summary is inserted after the first `summary_offset`
 * remaining events, of which the system prompt is one. It is never inserted inside of a unit.
 */
import type { Condensation } from '../../../schema/generated/events.ts'
import { toMessage } from '../../../schema/generated/values.ts'
import { messageUnit, withContent, type Unit } from './units.ts'

/**
 * Returns the units that remain after a condensation, and its summary as a unit. @param before the number of events
 * that precede `units`: 1 with a system prompt, else 0
 */
export function applyCondensation(units: readonly Unit[], condensation: Condensation, before: number): Unit[] {
  const { id, forgotten_event_ids, summary, summary_offset: offset } = condensation
  const forgotten = new Set(forgotten_event_ids)
  const left = units.filter(({ ids }) => !ids.some((event) => forgotten.has(event)))
  if (typeof summary !== 'string' || typeof offset !== 'number') return left
  const place = placeOf(left, offset - before)
  return [...left.slice(0, place), summaryUnit(`${id}-summary`, summary), ...left.slice(place)]
}

export function summaryUnit(id: string, summary: string): Unit {
  const message = withContent(toMessage({ role: 'user', content: summary }))
  return messageUnit(id, message === undefined ? [] : [{ message }])
}

/** Returns the number of units that hold the first `events` events. The last of these units may hold further events. */
export function placeOf(units: readonly Unit[], events: number): number {
  let place = 0
  let passed = 0
  for (const { ids } of units) {
    if (passed >= events) break
    passed += ids.length
    place++
  }
  return place
}

export function countEvents(units: readonly Unit[]): number {
  return units.reduce((sum, { ids }) => sum + ids.length, 0)
}

export function countChars(units: readonly Unit[]): number {
  return units.reduce((sum, { chars }) => sum + chars, 0)
}
