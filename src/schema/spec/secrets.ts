/**
 * Global secrets (specification, section "Global secret"; contract/settings.md, section 6), and the sources from which
 * a conversation gets its secrets (contract/conversations.md, section 6).
 */
import {
  address, arrayOf, boolean, constant, defaultTo, mapOf, optional, orNull, ref, required, response, secret, string,
  stated, tolerant, union, type Definitions,
} from './define.ts'

export const secretName = '^[a-zA-Z][a-zA-Z0-9_]{0,63}$'

export const secrets: Definitions = {
  StaticSecret: tolerant('A secret with its value.', {
    kind: defaultTo('StaticSecret', constant('StaticSecret')),
    value: secret(optional(string)),
    description: optional(string),
  }),
  LookupSecret: tolerant('A secret that is fetched with GET when it is used.', {
    kind: required(constant('LookupSecret')),
    url: address(required(string)),
    headers: secret(defaultTo({}, mapOf(string))),
    description: optional(string),
  }),
  SecretSource: union('The source of a secret.', 'kind', ['StaticSecret', 'LookupSecret'],
    [{ has: 'value', variant: 'StaticSecret' }]),

  SecretWrite: tolerant('Stores a global secret.', {
    name: stated({ pattern: secretName }, required(string, 'The environment variable that it becomes.')),
    value: secret(required(string)),
    description: optional(string),
  }),
  SecretItem: response('A global secret, without its value.', {
    name: required(string),
    description: orNull(string),
  }),
  SecretList: response('All global secrets, without their values.', { secrets: required(arrayOf(ref('SecretItem'))) }),
  Deleted: response('The object was removed.', { deleted: required(boolean) }),
}
