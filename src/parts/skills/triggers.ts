/**
 * Which skills a message of the user calls for.
 *
 * A trigger is found in any case of letters, as whole words: `git` is in "use Git-LFS" and not in "legitimate". Where a
 * script puts no spaces between words (Chinese, say) it is found anywhere. A trigger that begins with a slash is a
 * command and stands for itself, between spaces: `/review` is not in "src/review". Every skill of the type
 * `agentskills` answers to a slash and its name besides. Only the beginning of a long message is looked at. Pure.
 */
import type { Skill } from './skill.ts'

/** What is searched of a message, in characters. */
const searchedLimitChars = 32 * 1024

export interface Match {
  readonly skill: Skill
  /** As the skill writes it. */
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

/** One whole character: two units where the last one is the second half of a pair. */
function characterBefore(text: string, at: number): string {
  return Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? ''
}

/** Letters of scripts that put spaces between words, and digits. */
const wordStart = /^[\p{N}_\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u
const wordEnd = /[\p{N}_\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u
