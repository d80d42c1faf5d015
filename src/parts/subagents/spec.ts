/** Requests and responses about sub-agents. */
import {
  arrayOf, boolean, defaultTo, integer, number, oneOf, openObject, optional, orNull, ref, required, response, string,
  tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  SubAgentsRequest: tolerant('The kinds of sub-agents to list.', {
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    load_builtin: defaultTo(true, boolean),
    project_dir: optional(string),
  }),
  SubAgentInfo: response('A sub-agent.', {
    name: required(string),
    description: required(string),
    model: required(string, 'Always `inherit`: the model of the agent that gives the task.'),
    color: orNull(string),
    tools: required(arrayOf(string), 'Empty: all tools of the agent that gives the task.'),
    skills: required(arrayOf(string)),
    system_prompt: required(string),
    when_to_use_examples: required(arrayOf(string)),
    permission_mode: orNull(string, 'Effective where it is stricter than the policy of the conversation.'),
    max_iteration_per_run: orNull(integer),
    max_budget_per_run: orNull(number, 'In US dollars.'),
    metadata: required(openObject),
    level: required(oneOf('builtin', 'user', 'project')),
    source: orNull(string, 'The path of the file of the sub-agent.'),
    is_builtin: required(boolean),
  }),
  SubAgentsResponse: response('Sub-agents that this server can run.', {
    agents: required(arrayOf(ref('SubAgentInfo'))),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Skills', [
  {
    ...post('/api/sub-agents', 'Find sub-agents', 'SubAgentsRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The sub-agents found', ref('SubAgentsResponse')) },
  },
])
