/**
 * The tool `invoke_skill`: gives the model the text of a skill that the prompt only names (contract/payloads.md,
 * InvokeSkillAction).
 *
 * A call is recorded as an MCPToolAction with the name of this tool (decisions 1).
 */
import { invocableSkills, describeInvoked } from './telling.ts'
import type { Skill } from './skill.ts'
import { mcpToolDefinition, textContent, actionOf, type Tool } from '../../agents/tool.ts'

export interface SkillToolOptions {
  readonly skills: readonly Skill[]
  /** Called with the name of each skill whose text the model got. */
  readonly onInvoked: (name: string) => void
}

/** Returns the tool; undefined when there is no skill that the model may ask for. */
export function createSkillTool(options: SkillToolOptions): Tool | undefined {
  const skills = invocableSkills(options.skills)
  return skills.length === 0 ? undefined : makeTool({ ...options, skills })
}

const name = 'invoke_skill'

const description = `Get the text of a skill: instructions for a certain kind of work. The skills are listed under "# \
Skills" in the system prompt. Get one before you begin work of its kind; its text stays in the history, so once is \
enough.`

const parameters = {
  type: 'object',
  properties: { name: { type: 'string', description: 'The name of the skill, as it is listed.' } },
  required: ['name'],
}

const annotations = {
  title: name,
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

function makeTool({ skills, onInvoked }: SkillToolOptions): Tool {
  return {
    name,
    description,
    parameters,
    definition: mcpToolDefinition({ name, description, inputSchema: parameters }, { description, annotations }),
    isReadOnly: true,
    read({ name: wanted }) {
      if (typeof wanted !== 'string') return { ok: false, problem: 'name: expected a string' }
      return { ok: true, action: { kind: 'MCPToolAction', data: { name: wanted } } }
    },
    async run(action, { signal }) {
      signal.throwIfAborted()
      const { name: wanted } = actionOf(action, 'MCPToolAction').data
      const skill = skills.find((candidate) => candidate.name === wanted)
      const text = skill === undefined ? undefined : describeInvoked(skill)
      if (skill !== undefined && text !== undefined) onInvoked(skill.name)
      const content = textContent(text ?? refusal(String(wanted), skill, skills))
      return { kind: 'MCPToolObservation', content, is_error: text === undefined, tool_name: name }
    },
  }
}

function refusal(wanted: string, skill: Skill | undefined, skills: readonly Skill[]): string {
  if (skill !== undefined) return `The skill "${skill.name}" is too long to be given here. Read its file.`
  return `There is no skill "${wanted.slice(0, 128)}": expected one of ${skills.map((known) => known.name).join(', ')}`
}
