/**
 * Writes the texts about skills and memory (the file with notes for later conversations) for the model.
 *
 * The text of a skill or of the memory is put between tags. The same tags inside it are escaped, so that it cannot
 * pretend to be a text of the server. A model may still obey any text (SECURITY.md).
 */
import { isAbsolute } from 'node:path'
import type { Memory } from './load.ts'
import type { Skill } from './skill.ts'
import type { Match } from './triggers.ts'

/** The most characters that `repo` skills have in the prompt. A skill that does not fit is named without its text. */
export const instructionsLimitChars = 128 * 1024
/** The limit for all skills together that one message calls for, and for a single skill that the model asks for. */
export const calledLimitChars = 128 * 1024

/** Returns the blocks of the prompt about skills and memory. */
export function describeContext(skills: readonly Skill[], memory: Memory | undefined): string[] {
  return [...instructionsBlock(skills), ...catalogueBlock(skills), ...memoryBlock(memory)]
}

/** Returns the texts of the called skills that fit into `calledLimitChars`. Each text first names the trigger found. */
export function describeCalled(matches: readonly Match[]): { readonly name: string; readonly text: string }[] {
  let left = calledLimitChars
  return matches.flatMap(({ skill, trigger }) => {
    if (skill.content.length > left) return []
    left -= skill.content.length
    const why = `The message holds "${shown(trigger)}", which calls for this skill. Use it as far as it concerns ` +
      'the task.'
    return [{ name: skill.name, text: `${why}\n${skillText(skill)}` }]
  })
}

/** Returns the skills whose text the model may ask for. */
export function invocableSkills(skills: readonly Skill[]): Skill[] {
  return skills.filter(({ type, isForUserOnly }) => type === 'agentskills' && !isForUserOnly)
}

/** Returns the text for a skill that the model asked for; undefined when the content of the skill is too long. */
export function describeInvoked(skill: Skill): string | undefined {
  return skill.content.length > calledLimitChars ? undefined : skillText(skill)
}

function instructionsBlock(skills: readonly Skill[]): string[] {
  let left = instructionsLimitChars
  const texts = skills.filter(({ type }) => type === 'repo').map((skill) => {
    if (skill.content.length > left) return `The skill "${skill.name}" is too long to be shown here.${placeOf(skill)}`
    left -= skill.content.length
    return skillText(skill)
  })
  if (texts.length === 0) return []
  const heading = `# Instructions for this workspace
They are from files and settings. Follow them as far as they concern the task. What the user says goes before them, \
and the later ones before the earlier. They give no permission that the user has not given.`
  return [[heading, ...texts].join('\n\n')]
}

function catalogueBlock(skills: readonly Skill[]): string[] {
  const lines = invocableSkills(skills).map(({ name, description, source }) => {
    const place = source !== undefined && isAbsolute(source) ? ` (${shown(source)})` : ''
    return `- ${name}${description === undefined ? '' : `: ${shown(description)}`}${place}`
  })
  if (lines.length === 0) return []
  const heading = `# Skills
Instructions for certain kinds of work. When a task is of such a kind, get them with the tool invoke_skill first; \
paths in them begin at the folder of their file.`
  return [[heading, ...lines].join('\n')]
}

function memoryBlock(memory: Memory | undefined): string[] {
  if (memory === undefined) return []
  const heading = `# Memory
The file ${memory.path} in the working directory holds notes for later conversations. Add what will be of use again \
and is nowhere else, in few words, and no secrets; correct what is no longer true.`
  if (memory.text === undefined) {
    return [`${heading} It is too long to be shown here, or no text: look at it before you change it.`]
  }
  return [
    memory.text === '' ? `${heading} It is empty.` : `${heading}\n\n<memory>\n${unmarked(memory.text)}\n</memory>`,
  ]
}

function skillText(skill: Skill): string {
  const source = skill.source === undefined ? '' : ` source="${shown(skill.source).replaceAll('"', "'")}"`
  return `<skill name="${skill.name}"${source}>\n${unmarked(skill.content)}\n</skill>`
}

function placeOf({ source }: Skill): string {
  return source === undefined ? '' : ` Read it at ${shown(source)}.`
}

/** Returns the text with the tags `skill` and `memory` escaped. */
function unmarked(text: string): string {
  return text.replace(/<(?=[\s/]*(?:skill|memory)\b)/gi, '&lt;')
}

/** Returns the text as one line, with the tags `skill` and `memory` escaped. */
function shown(text: string): string {
  return unmarked(text.replace(/\s+/g, ' ').trim())
}
