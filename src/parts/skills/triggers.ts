/**
 * Finds the skills that a user message calls for.
 *
 * A trigger matches whole words, ignoring case: `git` matches "use Git-LFS" but not "legitimate". A word consists of
 * Latin, Greek and Cyrillic letters, digits and `_`. In other scripts, such as Chinese, a trigger matches anywhere. A
 * trigger that begins with a slash must follow white space or begin the message.
 */
import type { Skill } from './skill.ts'

/** The number of characters at the beginning of a message that are searched. */
const searchedLimitChars = 32 * 1024

export interface Match {
  readonly skill: Skill
  /** The trigger that was found, as the skill spells it. An `agentskills` skill also has its `/name` as a trigger. */
  readonly trigger: string
}

export function matchSkills(text: string, skills: readonly Skill[]): Match[] {
  const searched = folded(text.slice(0, searchedLimitChars))
  return skills.flatMap((skill) => {
    const trigger = triggersOf(skill).find((candidate) => holds(searched, folded(candidate)))
    return trigger === undefined ? [] : [{ skill, trigger }]
  })
}

function triggersOf({ type, name, triggers }: Skill): readonly string[] {
  return type === 'agentskills' ? [...triggers, `/${name}`] : triggers
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function holds(text: string, trigger: string): boolean {
  for (let at = text.indexOf(trigger); at >= 0; at = text.indexOf(trigger, at + 1)) {
    if (isWhole(text, trigger, at)) return true
  }
  return false
}

function isWhole(text: string, trigger: string, at: number): boolean {
  const before = characterBefore(text, at)
  const after = text.slice(at + trigger.length, at + trigger.length + 2)
  if (trigger.startsWith('/')) return /^\s?$/.test(before) && !/^[\p{L}\p{N}_/-]/u.test(after)
  const startsInWord = wordEnd.test(before) && wordStart.test(trigger)
  return !startsInWord && !(wordEnd.test(trigger) && wordStart.test(after))
}

/** Returns the whole character before a position, perhaps a surrogate pair; an empty text at the beginning. */
function characterBefore(text: string, at: number): string {
  return Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? ''
}

/** Matches a digit, `_`, or a Latin, Greek or Cyrillic letter at the start of a text (`wordEnd`: at the end). */
const wordStart = /^[\p{N}_\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u
const wordEnd = /[\p{N}_\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u
