/**
 * A skill: text that someone wrote for the model, and when it is to be given to it.
 *
 * Three types, as the contract tells them (contract: others.md, section 4): `repo` is always in the prompt, `knowledge`
 * is given with a message that holds one of its triggers, `agentskills` (agentskills.io) is named in the prompt for the
 * model to read when it needs it, and given when the user writes its name as a command. A skill comes from a file or
 * from a client; both become this one form. What a skill says is text and nothing but text: nothing here acts on it.
 */
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { parseFrontMatter } from './front-matter.ts'

export type SkillType = 'repo' | 'knowledge' | 'agentskills'

export interface Skill {
  readonly name: string
  readonly type: SkillType
  readonly content: string
  /** Words in a user message that invoke the skill. */
  readonly triggers: readonly string[]
  readonly description: string | undefined
  /** The path of its file, or what a client says of where it is from. */
  readonly source: string | undefined
  /** Whether only the user may invoke the skill: the model is not told of it. */
  readonly isForUserOnly: boolean
}

export const triggersLimit = 32
const triggerLimitChars = 100
const nameLimitChars = 128
/** As in the specification of Agent Skills. */
const descriptionLimitChars = 1024

export interface SkillFile {
  readonly path: string
  readonly text: string
  /** Its name unless the file says another. */
  readonly name: string
  readonly isAgentSkill: boolean
}

/** @throws AppError `invalid_input` for a file that is no skill */
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

/** The text of instructions that are always given, such as AGENTS.md. @throws AppError as `parseSkill` */
export function instructionSkill({ name, source, text }: {
  readonly name: string
  readonly source: string | undefined
  readonly text: string
}): Skill {
  const content = text.trim()
  return checked({ name, content, triggers: [], description: undefined, source, isForUserOnly: false }, false)
}

/**
 * A skill as a client sends it: `trigger` of the type `keyword` or `task`, or plain `triggers` as this server answers
 * them.
 * @throws AppError `invalid_input` for what is no skill
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
