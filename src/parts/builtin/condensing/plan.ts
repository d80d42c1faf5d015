/**
 * Chooses the events that a summary replaces.
 *
 * A unit is a message, or the calls of one response with their results (view/units.ts). A unit is open while it may
 * still get results. The first open unit and all units after it are kept.
 */
import type { Unit } from '../view/units.ts'
import { countEvents, placeOf } from '../view/applied.ts'

export interface PlanInput {
  readonly units: readonly Unit[]
  /** The number of events before the units: 1 with a system prompt, else 0. */
  readonly before: number
  /** The number of events at the beginning that `planPart` keeps, including the system prompt. */
  readonly keepFirst: number
}

/** The bounds that `planPart` tries to reach. */
export interface Target {
  /** The most events that may remain in the view, including the summary; undefined for no bound. */
  readonly events?: number | undefined
  /** The fewest characters of text that have to be forgotten; undefined for no bound. */
  readonly chars?: number | undefined
}

export interface Plan {
  readonly forgotten: readonly Unit[]
  /** The position of the summary: the number of events that stay before it, including the system prompt. */
  readonly offset: number
}

/**
 * Plans to forget the oldest units after the first `keepFirst` events, as many as `target` demands. Keeps the last unit
 * and all units from the first open unit on. Returns undefined when fewer than two events would be forgotten.
 */
export function planPart(input: PlanInput, target: Target): Plan | undefined {
  const { units, before, keepFirst } = input
  const from = placeOf(units, keepFirst - before)
  const ends = [endByEvents(input, target.events), endByChars(units, from, target.chars)]
  return planned(input, from, Math.min(Math.max(...ends), units.length - 1))
}

/**
 * Plans to forget all units before the first open unit, or all units when none is open. Returns undefined when these
 * units have fewer than two events. The system prompt stays.
 */
export function planAll(input: PlanInput): Plan | undefined {
  return planned(input, 0, input.units.length)
}

function planned({ units, before }: PlanInput, from: number, end: number): Plan | undefined {
  const open = units.findIndex(({ isOpen }) => isOpen)
  const forgotten = units.slice(from, open === -1 ? end : Math.min(end, open))
  // The summary adds one event, so forgetting one event would gain nothing.
  if (countEvents(forgotten) < 2) return undefined
  return { forgotten, offset: before + countEvents(units.slice(0, from)) }
}

function endByEvents({ units, keepFirst }: PlanInput, events: number | undefined): number {
  if (events === undefined) return 0
  return placeOf(units, countEvents(units) - Math.max(0, events - keepFirst - 1))
}

function endByChars(units: readonly Unit[], from: number, chars: number | undefined): number {
  if (chars === undefined) return 0
  let gone = 0
  let end = from
  while (end < units.length && gone < chars) gone += units[end++]?.chars ?? 0
  return end
}
