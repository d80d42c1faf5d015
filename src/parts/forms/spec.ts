/** The response that describes a form of the settings (contract/settings.md, section 3.4). */
import {
  arrayOf, openObject, ref, required, response, string, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  SettingsSchema: response('A form for settings.', {
    model_name: required(string),
    sections: required(arrayOf(openObject)),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Settings', [
  get('/api/settings/agent-schema', 'Describe the agent settings', ref('SettingsSchema')),
  get('/api/settings/conversation-schema', 'Describe the conversation settings', ref('SettingsSchema')),
])
