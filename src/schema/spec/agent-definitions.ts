/** The definition of a sub-agent in a request (contract/others.md, section 4). */
import {
  arrayOf, defaultTo, integerOf, numberOf, oneOf, openObject, orNull, required, string, stringOf, tolerant, unread,
  type Definitions,
} from './define.ts'

export const agentDefinitions: Definitions = {
  AgentDefinition: tolerant('The definition of a sub-agent, in a request.', {
    name: required(stringOf({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' })),
    description: defaultTo('', stringOf({ maxLength: 20_000 })),
    model: unread(defaultTo('inherit', string, 'A sub-agent has the model of the agent that gives the task.')),
    color: orNull(stringOf({ maxLength: 64 })),
    tools: defaultTo(
      [], arrayOf(stringOf({ maxLength: 64 }), { maxItems: 1000 }),
      'Tools of the sub-agent, from the tools of the agent that gives the task. Empty: all of them.',
    ),
    skills: unread(defaultTo([], arrayOf(string))),
    system_prompt: defaultTo('', stringOf({ maxLength: 100_000 }), 'Added to the system prompt.'),
    when_to_use_examples: defaultTo([], arrayOf(stringOf({ maxLength: 20_000 }), { maxItems: 100 })),
    permission_mode: orNull(
      oneOf('always_confirm', 'confirm_risky', 'never_confirm'),
      'Effective where it is stricter than the policy of the conversation.',
    ),
    max_iteration_per_run: orNull(integerOf({ exclusiveMinimum: 0 })),
    max_budget_per_run: orNull(numberOf({ exclusiveMinimum: 0 }), 'In US dollars.'),
    mcp_config: unread(orNull(openObject, 'A sub-agent without `tools` has the MCP servers of the conversation.')),
    hooks: orNull(openObject, 'Refused unless empty: a sub-agent has the hooks of its conversation.'),
    condenser: unread(orNull(openObject, 'A sub-agent has the condenser of the conversation.')),
    profile_store_dir: unread(orNull(string)),
    level: unread(orNull(string)),
    source: unread(orNull(string)),
    metadata: unread(defaultTo({}, openObject)),
  }),
}
