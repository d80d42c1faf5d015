/** Responses about the installation of agents. */
import {
  arrayOf, number, oneOf, ref, required, response, string, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  Installation: response('An installation of an agent.', {
    name: required(string),
    state: required(oneOf('running', 'done', 'failed')),
    text: required(string, 'The current step; at the end the version, or the reason of the failure.'),
    seconds: required(number),
  }),
  InstallationList: response('Installations since the server started.', {
    items: required(arrayOf(ref('Installation'))),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Console', [
  get('/api/agents/installations', 'List installations of agents', ref('InstallationList')),
  {
    ...post('/api/agents/{name}/install', 'Install an agent, or get the state of its installation'),
    responses: { 200: responseOf('The installation', ref('Installation')) },
  },
])
