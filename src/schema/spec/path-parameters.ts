/** The schemas of path parameters that are not plain strings, for the OpenAPI description. */
import { ref, stringOf, type Schema } from './define.ts'
import { secretName } from './secrets.ts'

/** A key is the name of a parameter, or the beginning of a path that ends with the parameter (`.../{name}`). */
export const pathParameters: Readonly<Record<string, Schema>> = {
  conversation_id: { type: 'string', format: 'uuid' },
  '/api/profiles/{name}': ref('ProfileName'),
  '/api/settings/secrets/{name}': stringOf({ pattern: secretName }),
}
