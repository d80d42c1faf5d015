/** The schemas of path parameters that are not plain strings, for the OpenAPI description. */
import { ref, stringOf, type Schema } from './define.ts'
import { secretName } from './secrets.ts'
import { extensionName } from './skills.ts'

/** The schemas by parameter name, or by the whole path where other paths use that name for another parameter. */
export const pathParameters: Readonly<Record<string, Schema>> = {
  conversation_id: { type: 'string', format: 'uuid' },
  sha: { type: 'string', pattern: '^[0-9a-fA-F]{4,64}$' },
  '/api/profiles/{name}': ref('ProfileName'),
  '/api/agent-profiles/{name}': ref('ProfileName'),
  '/api/settings/secrets/{name}': stringOf({ pattern: secretName }),
  skill_name: extensionName,
  plugin_name: extensionName,
}
