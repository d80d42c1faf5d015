/** Responses about this machine and its agents. */
import {
  arrayOf, boolean, oneOf, optional, ref, required, response, string, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  Finding: response('A finding about this machine or one agent: one line of `agent-server doctor`.', {
    subject: required(string),
    state: required(oneOf('ok', 'note', 'problem')),
    text: required(string),
    advice: required(string, 'Empty when there is nothing to do.'),
    answers: optional(boolean, 'The program of the agent answers.'),
  }),
  FindingList: response('The examination of this machine.', { items: required(arrayOf(ref('Finding'))) }),
  AgentDescription: response('An agent that can be chosen.', {
    name: required(string),
    title: required(string),
    state: required(oneOf('ready', 'missing', 'problem')),
    text: required(string),
    advice: required(string),
    login: required(oneOf('yes', 'no', 'unknown')),
    keys: required(arrayOf(string), 'The names of the keys that are set.'),
    api_key_variable: required(string),
    base_url_variable: required(string),
    login_command: required(string),
    can_install: required(boolean),
  }),
  AgentDescriptionList: response('The agents of the provider table.', {
    items: required(arrayOf(ref('AgentDescription'))),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Console', [
  get('/api/doctor', 'Examine this machine', ref('FindingList')),
  get('/api/doctor/agents', 'List the agents, their programs and logins', ref('AgentDescriptionList')),
  {
    ...post('/api/doctor/agents/{name}', 'Examine an agent by starting its program'),
    responses: { 200: responseOf('The finding', ref('Finding')) },
  },
])
