/**
 * A skill: a text with instructions for the model, and the condition under which the model gets the text.
 *
 * There are three types (contract/others.md, section 4). `repo` is in the prompt. `knowledge` is given with a message
 * that contains one of its triggers. `agentskills` (agentskills.io) is given when the model or a message calls for it.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import { parseFrontMatter } from './front-matter.ts'

export type SkillType = 'repo' | 'knowledge' | 'agentskills'

export interface Skill {
  readonly name: string
  readonly type: SkillType
  readonly content: string
  /** Texts that call for the skill when a user message contains one of them (triggers.ts). */
  readonly triggers: readonly string[]
  readonly description: string | undefined
  /** The path of its file, or the source that a client names; undefined without either. */
  readonly source: string | undefined
  /** True when the prompt must not offer the skill to the model. Has an effect on `agentskills` only. */
  readonly isForUserOnly: boolean
}

export const triggersLimit = 32
const triggerLimitChars = 100
const nameLimitChars = 128
/** The most characters of a description, as in the Agent Skills specification. A longer description is cut. */
const descriptionLimitChars = 1024

export interface SkillFile {
  readonly path: string
  readonly text: string
  /** The name of the skill if the front matter gives none. */
  readonly name: string
  readonly isAgentSkill: boolean
}

/** Makes a skill of a file. @throws AppError `invalid_input` for a file that is not a valid skill */
export function parseSkill({ path, text, name, isAgentSkill }: SkillFile): Skill {
  const front = parseFrontMatter(text)
  const description = front.text('description')
  if (isAgentSkill && description === undefined) throw new AppError('invalid_input', 'The skill has no description')
  return checked({
    name: front.text('name') ?? name,
    content: front.body,
    triggers: front.list('triggers'),
    description,
    source: path,
    isForUserOnly: front.flag('disable-model-invocation'),
  }, isAgentSkill)
}

/** Makes a skill of instructions such as AGENTS.md. @throws the errors of `parseSkill` */
export function instructionSkill({ name, source, text }: {
  readonly name: string
  readonly source: string | undefined
  readonly text: string
}): Skill {
  const content = text.trim()
  return checked({ name, content, triggers: [], description: undefined, source, isForUserOnly: false }, false)
}

/** Returns the skill with a new name, and `/name` as its only trigger. @throws the errors of `parseSkill` */
export function commandSkill(skill: Skill, name: string): Skill {
  return checked({ ...skill, name, triggers: [`/${name}`] }, false)
}

/** Returns the object that a client would send for this skill. */
export function clientSkillOf({ type, isForUserOnly, source, description, ...rest }: Skill): JsonObject {
  return toJsonObject({
    ...rest,
    description: description ?? null,
    source: source ?? null,
    is_agentskills_format: type === 'agentskills',
    disable_model_invocation: isForUserOnly,
  })
}

/**
 * Makes a skill of a client's object. The triggers are in `trigger.keywords` or `trigger.triggers`. In an object
 * without `trigger` they are in `triggers`, as in responses of this server.
 * @throws AppError `invalid_input` for an object that is not a valid skill
 */
export function skillOfClient(value: Readonly<Record<string, unknown>>): Skill {
  return checked({
    name: stringOf(value['name']) ?? '',
    content: stringOf(value['content']) ?? '',
    triggers: triggersOf(value),
    description: stringOf(value['description']),
    source: stringOf(value['source']),
    isForUserOnly: value['disable_model_invocation'] === true,
  }, value['is_agentskills_format'] === true)
}

function checked(skill: Omit<Skill, 'type'>, isAgentSkill: boolean): Skill {
  const { name, content, description } = skill
  if (name.length > nameLimitChars || !/^[^\s\p{C}<>"]+(?: [^\s\p{C}<>"]+)*$/u.test(name)) {
    const quoted = JSON.stringify(name.slice(0, 60))
    throw new AppError('invalid_input', `Cannot use the skill ${quoted}: expected a name of one line`)
  }
  if (content === '') throw new AppError('invalid_input', `Cannot use the skill "${name}": it is empty`)
  const triggers = skill.triggers.map((trigger) => trigger.trim()).filter((trigger) => trigger !== '')
  if (triggers.length > triggersLimit || triggers.some((trigger) => trigger.length > triggerLimitChars)) {
    const expected = `expected at most ${triggersLimit} triggers of ${triggerLimitChars} characters`
    throw new AppError('invalid_input', `Cannot use the skill "${name}": ${expected}`)
  }
  const type = isAgentSkill ? 'agentskills' : triggers.length > 0 ? 'knowledge' : 'repo'
  return { ...skill, type, triggers, description: description?.slice(0, descriptionLimitChars) }
}

function triggersOf({ trigger, triggers }: Readonly<Record<string, unknown>>): string[] {
  const list = isObject(trigger) ? (trigger['keywords'] ?? trigger['triggers']) : triggers
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
