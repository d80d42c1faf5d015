/**
 * Which skills a model has the text of: those that came with a message which it is told still.
 *
 * A skill is given once, and again when the message that held it was condensed away, or the head of the history was moved
 * to before it. Ids of events grow with time, so a message that is younger than the event which the head is moved to
 * cannot lie before that. Where a head comes back to a branch that it has left, a skill may be given there a second time;
 * it is never missing. Pure.
 */
import type { Event } from '../schema/generated/events.ts'

/** Name of the skill -> id of the message that holds it. */
export type GivenSkills = Readonly<Record<string, string>>

export function givenAfterEvent(given: GivenSkills, event: Event): GivenSkills {
  if (event.kind === 'MessageEvent' && event.activated_skills.length > 0) {
    return { ...given, ...Object.fromEntries(event.activated_skills.map((name) => [name, event.id])) }
  }
  if (event.kind !== 'Condensation') return given
  const forgotten = new Set(event.forgotten_event_ids)
  return kept(given, (id) => !forgotten.has(id))
}

/** @param head the event that the next one follows; null: none */
export function givenAfterMove(given: GivenSkills, head: string | null): GivenSkills {
  return kept(given, (id) => head !== null && id <= head)
}

function kept(given: GivenSkills, isTold: (id: string) => boolean): GivenSkills {
  return Object.fromEntries(Object.entries(given).filter(([, id]) => isTold(id)))
}
