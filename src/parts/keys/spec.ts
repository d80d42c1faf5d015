/** Responses of the part `keys`: the named keys, and the key of the request. */
import {
  arrayOf, boolean, integer, mapOf, nullable, oneOf, ref, required, response, string, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { get, inGroup, post } from '../../schema/spec/operation.ts'

const scopes = arrayOf(oneOf('read', 'drive', 'approve', 'configure', 'admin', 'metrics'))

export const definitions: Definitions = {
  NamedKey: response('A named key, without its text.', {
    name: required(string),
    id: required(string, 'The id in the text of the key. The id is no secret.'),
    scopes: required(scopes),
    tag: required(nullable(mapOf(string)), 'The key sees only conversations with this tag.'),
    max_conversations: required(nullable(integer), 'The most existing conversations that the key may have made.'),
    max_runs: required(nullable(integer), 'The most runs at once in these conversations.'),
    max_disk_bytes: required(nullable(integer), 'The most bytes of the disk that these conversations take up.'),
    created_at: required(string),
    expires_at: required(nullable(string)),
    is_expired: required(boolean),
  }),
  NamedKeyList: response('The named keys.', { items: required(arrayOf(ref('NamedKey'))) }),
  CurrentKey: response('The key of the request.', {
    name: required(string, '`session key` for a session key, `no key` on a server that asks for none.'),
    id: required(nullable(string)),
    scopes: required(scopes),
    tag: required(nullable(mapOf(string))),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Keys', [
  get('/api/keys', 'List the named keys', ref('NamedKeyList')),
  get('/api/keys/current', 'Return the name and the scopes of the key of this request', ref('CurrentKey')),
  { ...post('/api/keys/{key_name}', 'Revoke a named key'), method: 'DELETE' },
])
