/**
 * Derives the settings of a sub-agent from the settings of the agent that gives the task.
 *
 * The sub-agent gets no tool that this agent lacks, and not the tool `task`. The confirmation policy of the sub-agent
 * is at least as strict as the policy of the parent conversation.
 */
import { assertNever } from '../../base/errors.ts'
import type { Agent, ConfirmationPolicy } from '../../schema/generated/conversations.ts'
import { toAgentContext } from '../../schema/generated/settings.ts'
import type { Definition, PermissionMode } from './definition.ts'

/** Returns the settings of the sub-agent. Secrets are copied from `agent` unchanged. */
export function subAgentOf(agent: Agent, definition: Definition): Agent {
  const context = agent.agent_context ?? toAgentContext({})
  const suffix = [context.system_message_suffix ?? '', roleOf(definition)].filter((text) => text.trim() !== '')
  return {
    ...agent,
    tools: toolsFor(agent, definition),
    include_default_tools: agent.include_default_tools.filter((name) => !isTaskTool(name)),
    mcp_config: definition.tools === undefined ? agent.mcp_config : {},
    critic: null,
    agent_context: { ...context, system_message_suffix: suffix.join('\n\n') },
  }
}

/** Returns true if the definition names no tools, or names a tool that the sub-agent gets. */
export function canServe(agent: Agent, definition: Definition): boolean {
  return definition.tools === undefined || toolsFor(agent, definition).length > 0
}

function toolsFor({ tools }: Agent, definition: Definition): Agent['tools'] {
  const wanted = definition.tools?.map(plainName)
  return tools.filter(({ name }) => {
    return !isTaskTool(name) && (wanted === undefined || wanted.includes(plainName(name)))
  })
}

function isTaskTool(name: string): boolean {
  return ['task', 'tasktoolset'].includes(plainName(name))
}

/** Returns the same text for `file_editor`, `FileEditor` and `FileEditorTool`. */
function plainName(name: string): string {
  return name.replace(/Tool$/, '').replaceAll('_', '').toLowerCase()
}

function roleOf({ name, prompt }: Definition): string {
  return `# Your task
You are the sub-agent "${name}". Another agent gave you the task in the first message, and it sees nothing of your \
work but your last message. Make that message complete: what it asked for, what you changed and where, what is left or \
uncertain. Nobody answers questions: decide, and say what you assumed.

${prompt}`.trim()
}

/** Returns a policy that asks whenever the parent conversation's policy (`above`) or the definition's (`mode`) asks. */
export function policyFor(above: ConfirmationPolicy, mode: PermissionMode | undefined): ConfirmationPolicy {
  const own = mode === undefined ? above : policyOf(mode)
  if (own.kind === 'ConfirmRisky' && above.kind === 'ConfirmRisky') {
    return { ...above, confirm_unknown: own.confirm_unknown || above.confirm_unknown }
  }
  return rank[own.kind] > rank[above.kind] ? own : above
}

const rank = { NeverConfirm: 0, ConfirmRisky: 1, AlwaysConfirm: 2 } as const

function policyOf(mode: PermissionMode): ConfirmationPolicy {
  switch (mode) {
    case 'always_confirm':
      return { kind: 'AlwaysConfirm' }
    case 'confirm_risky':
      return { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true }
    case 'never_confirm':
      return { kind: 'NeverConfirm' }
    default:
      return assertNever(mode)
  }
}
