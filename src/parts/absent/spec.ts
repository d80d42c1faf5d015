/** Describes the routes of services that this server does not have (contract/others.md, section 11). */
import {
  arrayOf, boolean, integer, nullable, openObject, required, response, string, ref, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  AutomationHealth: response('The state of the service for automations: there is none.', { status: required(string) }),
  AutomationVersion: response('The version of the service for automations.', {
    sdk_version: required(nullable(string)),
  }),
  AutomationList: response('Automations: none.', {
    automations: required(arrayOf(openObject)),
    total: required(integer),
  }),
  InstalledApps: response('Apps of the web page: none.', { canvas_extensions: required(arrayOf(openObject)) }),
  EditorStatus: response('The editor: there is none.', {
    running: required(boolean),
    enabled: required(boolean),
    message: required(string),
  }),
}

const unavailable = responseOf('There is none', ref('ServerError'))

export const endpoints: readonly Endpoint[] = inGroup('Absent services', [
  get('/api/automation/health', 'Say that there are no automations', ref('AutomationHealth')),
  get('/api/automation/sdk-version', 'Say that there are no automations', ref('AutomationVersion')),
  get('/api/automation/v1', 'List automations: none', ref('AutomationList')),
  post('/api/automation/v1/telemetry/consent', 'Accept a choice about telemetry, which has no effect'),
  get('/api/canvas-extensions/installed', 'List apps of the web page: none', ref('InstalledApps')),
  get('/api/vscode/status', 'Say that there is no editor', ref('EditorStatus')),
  { ...get('/api/vscode/url', 'Get the address of the editor', string), responses: { 503: unavailable } },
  { ...get('/api/desktop/url', 'Get the address of the desktop', string), responses: { 503: unavailable } },
])
