/**
 * Which part of a view a condensation summarizes.
 *
 * The first events stay (the system prompt and the task, as a rule) and the newest half of what is wanted; what lies
 * between goes. Bounds are counted in events and fall between units, rounded towards forgetting. The last unit stays, and
 * so does whatever may still get results. Nothing is planned that would not make the view smaller. Pure.
 */
import type { Unit } from '../units.ts'
import { countEvents, placeOf } from './applied.ts'

export interface PlanInput {
  readonly units: readonly Unit[]
  /** Events that stand in front of the units: the system prompt, if there is one. */
  readonly before: number
  /** Events at the beginning that stay. */
  readonly keepFirst: number
}

/** What a plan has to reach: all that is named. */
export interface Target {
  /** So many events may be left, a summary among them. */
  readonly events?: number | undefined
  /** So much text has to go. */
  readonly chars?: number | undefined
}

export interface Plan {
  readonly forgotten: readonly Unit[]
  /** Of the summary: events before it. */
  readonly offset: number
}

/** Forgets what is needed, as far as that may be; undefined when it would be too little. */
export function planPart(input: PlanInput, target: Target): Plan | undefined {
  const { units, before, keepFirst } = input
  const from = placeOf(units, keepFirst - before)
  const ends = [endByEvents(input, target.events), endByChars(units, from, target.chars)]
  return planned(input, from, Math.min(Math.max(...ends), units.length - 1))
}

/** Forgets everything but the system prompt: for when nothing less helps. */
export function planAll(input: PlanInput): Plan | undefined {
  return planned(input, 0, input.units.length)
}

function planned({ units, before }: PlanInput, from: number, end: number): Plan | undefined {
  const open = units.findIndex(({ isOpen }) => isOpen)
  const forgotten = units.slice(from, open === -1 ? end : Math.min(end, open))
  // The summary takes the place of one.
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
