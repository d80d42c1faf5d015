/**
 * The definition of a sub-agent: built in, a Markdown file with front matter (contract/others.md, section 4), or part
 * of a create request.
 *
 * The text below the front matter is the prompt. `skills`, `mcp_servers`, `hooks` and `model` do not change what the
 * sub-agent does: a file of a project starts no program and chooses no model.
 */
import { AppError } from '../../base/errors.ts'
import type { DefinitionText } from '../../offers.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import { parseFrontMatter } from '../skills/front-matter.ts'

export interface Definition {
  readonly name: string
  readonly description: string
  readonly color: string | undefined
  /** Tools that the sub-agent gets, with `include_default_tools`, if its parent has them. Undefined: all but `task`. */
  readonly tools: readonly string[] | undefined
  readonly skills: readonly string[]
  readonly prompt: string
  readonly examples: readonly string[]
  /** The sub-agent's confirmation policy, unless the parent conversation's policy is stricter (`policyFor`). */
  readonly permissionMode: PermissionMode | undefined
  /** The most steps of a run of the sub-agent. Undefined: as many as in a run of the parent conversation. */
  readonly maxIterations: number | undefined
  /** The most that the sub-agent may cost, in US dollars. Undefined: only the parent's limit applies. */
  readonly maxBudget: number | undefined
}

export type PermissionMode = 'always_confirm' | 'confirm_risky' | 'never_confirm'

/** Reads the definition in a Markdown file. @throws AppError `invalid_input` for an unusable front matter or field */
export function parseDefinition({ text, name: fallback }: DefinitionText): Definition {
  const { body, text: field, list } = parseFrontMatter(text)
  const name = field('name') ?? fallback
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) throw unusable('name', 'letters, digits, "_", "-" and "."')
  const description = field('description') ?? ''
  const tools = list('tools').flatMap((tool) => tool.split(',')).map((tool) => tool.trim()).filter(Boolean)
  return {
    name,
    description: description.slice(0, descriptionLimitChars),
    color: field('color'),
    tools: tools.length === 0 ? undefined : tools,
    skills: list('skills'),
    prompt: body,
    examples: [...description.matchAll(/<example>([^<]*)<\/example>/g)].map(([, example = '']) => example.trim()),
    permissionMode: modeOf(field('permission_mode')),
    maxIterations: numberOf(field('max_iteration_per_run'), 'max_iteration_per_run', Number.isInteger),
    maxBudget: numberOf(field('max_budget_per_run'), 'max_budget_per_run', Number.isFinite),
  }
}

/** Reads a definition that is stored with a conversation. */
export function keptDefinition(kept: AgentDefinition): Definition {
  return {
    name: kept.name,
    description: kept.description.slice(0, descriptionLimitChars),
    color: kept.color ?? undefined,
    tools: kept.tools.length === 0 ? undefined : kept.tools,
    skills: [],
    prompt: kept.system_prompt,
    examples: kept.when_to_use_examples,
    permissionMode: kept.permission_mode ?? undefined,
    maxIterations: kept.max_iteration_per_run ?? undefined,
    maxBudget: kept.max_budget_per_run ?? undefined,
  }
}

const descriptionLimitChars = 2000
const modes = ['always_confirm', 'confirm_risky', 'never_confirm'] as const

function modeOf(text: string | undefined): PermissionMode | undefined {
  if (text === undefined) return undefined
  const mode = modes.find((known) => known === text)
  if (mode === undefined) throw unusable('permission_mode', `one of ${modes.join(', ')}`)
  return mode
}

function numberOf(text: string | undefined, field: string, fits: (value: number) => boolean): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!fits(value) || value <= 0) throw unusable(field, 'a positive number')
  return value
}

function unusable(field: string, expected: string): AppError {
  return new AppError('invalid_input', `The field "${field}" cannot be used: expected ${expected}`)
}
