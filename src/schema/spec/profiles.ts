/** Requests and responses for LLM profiles: stored configurations of models (contract/settings.md, section 7). */
import {
  arrayOf, boolean, defaultTo, nullable, ref, required, response, string, tolerant, type Definitions,
  type Endpoint,
} from './define.ts'
import { responseOf, conflict, get, inGroup, post } from './operation.ts'

export const profiles: Definitions = {
  LlmProfile: tolerant('A stored language model.', { llm: required(ref('LLM')) }),
  ProfileSummary: response('A profile in a list of profiles.', {
    name: required(string),
    model: required(nullable(string)),
    base_url: required(nullable(string)),
    provider_connection_id: required(nullable(string)),
    provider_connection_broken: required(boolean, 'True: the connection does not exist; the profile is unusable.'),
    api_key_set: required(boolean),
  }),
  ProfileList: response('All profiles that can be read, by name.', {
    profiles: required(arrayOf(ref('ProfileSummary'))),
    active_profile: required(nullable(string)),
  }),
  ProfileDetail: response('A profile.', {
    name: required(string),
    config: required(ref('LLM'), '`api_key` is null unless the header X-Expose-Secrets asks for it.'),
    api_key_set: required(boolean),
  }),
  SaveProfileRequest: tolerant('The content of a profile.', {
    llm: required(ref('LLM'), 'With plain or encrypted secrets.'),
    include_secrets: defaultTo(true, boolean, 'False: the secrets are not stored.'),
  }),
  RenameProfileRequest: tolerant('The new name of a profile.', { new_name: required(ref('ProfileName')) }),
  ProfileChange: response('The result of a change.', { name: required(string), message: required(string) }),
  ProfileActivation: response('New conversations use the profile.', {
    name: required(string),
    message: required(string),
    llm_applied: required(boolean),
  }),
}

const unreadable = responseOf('The stored profile cannot be read', ref('ErrorDetail'))

export const profileEndpoints: readonly Endpoint[] = inGroup('Profiles', [
  get('/api/profiles', 'List profiles', ref('ProfileList')),
  { ...get('/api/profiles/{name}', 'Get a profile', ref('ProfileDetail')), responses: {
    200: responseOf('The profile', ref('ProfileDetail')),
    400: unreadable,
  } },
  {
    ...post('/api/profiles/{name}', 'Store a profile', 'SaveProfileRequest'),
    responses: { 201: responseOf('Stored', ref('ProfileChange')), 409: conflict('There are too many profiles') },
  },
  {
    ...post('/api/profiles/{name}', 'Remove a profile'),
    method: 'DELETE',
    responses: { 200: responseOf('The profile does not exist now', ref('ProfileChange')) },
  },
  {
    ...post('/api/profiles/{name}/rename', 'Rename a profile', 'RenameProfileRequest'),
    responses: { 200: responseOf('Renamed', ref('ProfileChange')), 409: conflict('The name is taken') },
  },
  {
    ...post('/api/profiles/{name}/activate', 'Use a profile for new conversations'),
    responses: { 200: responseOf('Written to the settings', ref('ProfileActivation')), 400: unreadable },
  },
])
