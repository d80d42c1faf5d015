/**
 * Remembers which skills a model has in its context. Pure.
 *
 * A skill is forgotten when its message is condensed away, or when the head moves to before the message.
 */
import type { Event } from '../../schema/generated/events.ts'

/** The id of the message that holds each skill's text, by the name of the skill. */
export type GivenSkills = Readonly<Record<string, string>>

export function givenAfterEvent(given: GivenSkills, event: Event): GivenSkills {
  if (event.kind === 'MessageEvent' && event.activated_skills.length > 0) {
    return { ...given, ...Object.fromEntries(event.activated_skills.map((name) => [name, event.id])) }
  }
  if (event.kind !== 'Condensation') return given
  const forgotten = new Set(event.forgotten_event_ids)
  return kept(given, (id) => !forgotten.has(id))
}

/** Returns the skills that are left after the head moved. @param head id of the new head; null for an empty branch */
export function givenAfterMove(given: GivenSkills, head: string | null): GivenSkills {
  return kept(given, (id) => head !== null && id <= head)
}

function kept(given: GivenSkills, isTold: (id: string) => boolean): GivenSkills {
  return Object.fromEntries(Object.entries(given).filter(([, id]) => isTold(id)))
}
