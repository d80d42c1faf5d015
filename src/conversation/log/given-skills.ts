/**
 * Computes which skills have their text in the model's context. Pure.
 *
 * A skill drops out when a condensation forgets its message, or when the branch's head moves to before the message.
 */
import type { Event } from '../../schema/generated/events.ts'

/** Maps the name of each skill in the context to the id of the newest message that holds the skill's text. */
export type GivenSkills = Readonly<Record<string, string>>

export function givenAfterEvent(given: GivenSkills, event: Event): GivenSkills {
  if (event.kind === 'MessageEvent' && event.activated_skills.length > 0) {
    return { ...given, ...Object.fromEntries(event.activated_skills.map((name) => [name, event.id])) }
  }
  if (event.kind !== 'Condensation') return given
  const forgotten = new Set(event.forgotten_event_ids)
  return kept(given, (id) => !forgotten.has(id))
}

/** Returns the skills whose message is not newer than `head`, the branch's new newest event. For null, returns none. */
export function givenAfterMove(given: GivenSkills, head: string | null): GivenSkills {
  return kept(given, (id) => head !== null && id <= head)
}

function kept(given: GivenSkills, isTold: (id: string) => boolean): GivenSkills {
  return Object.fromEntries(Object.entries(given).filter(([, id]) => isTold(id)))
}
