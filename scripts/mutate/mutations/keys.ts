/** Promises of src/api/permission and src/parts/keys: the rights of each key. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const audit = ['test/parts/audit/audit.test.ts']
const required = ['test/parts/audit/required.test.ts']
const scopes = ['test/parts/keys/scopes.test.ts']
const tag = ['test/parts/keys/tag.test.ts']
const ending = ['test/parts/keys/ending.test.ts']

export const keyMutations: readonly Mutation[] = [
  {
    file: 'src/api/permission.ts',
    old: '|| rights.has(right)) return',
    new: '|| rights.size > 0) return',
    promise: 'A key without the scope of a route is refused.',
    tests: scopes,
  },
  {
    file: 'src/api/permission.ts',
    old: 'if (mode === \'plaintext\') assertRight(principal, \'secrets\')',
    new: 'if (mode === \'plaintext\') assertRight(principal, \'read\')',
    promise: 'Secrets in plain text need the scope admin.',
    tests: scopes,
  },
  {
    file: 'src/api/permission.ts',
    old: 'if (id === undefined || !hasTag(id, tag)) throw',
    new: 'if (id === undefined) throw',
    promise: 'A conversation without the tag of a key looks missing.',
    tests: tag,
  },
  {
    file: 'src/api/permission.ts',
    old: 'if (!route.isForRestricted) throw',
    new: 'if (route.right === \'metrics\') throw',
    promise: 'A key with a tag reaches no route about the whole server that is not listed as safe.',
    tests: tag,
  },
  {
    file: 'src/api/permission.ts',
    old: 'return { ...tags, [tag.name]: tag.value }',
    new: 'return { [tag.name]: tag.value, ...tags, [`${tag.name}2`]: tag.value }',
    promise: 'A conversation that a key with a tag creates has this tag, and no other beside those asked for.',
    tests: tag,
  },
  {
    file: 'src/api/event-socket.ts',
    old: 'assertRight(client.principal, \'drive\')',
    new: 'assertRight(client.principal, \'read\')',
    promise: 'A key without the scope drive sends no message on a socket.',
    tests: scopes,
  },
  {
    file: 'src/api/event-socket.ts',
    old: '?.(conversationId) === false) throw',
    new: '?.(conversationId) === undefined) throw',
    promise: 'The socket of a conversation without the tag of a key does not open.',
    tests: tag,
  },
  {
    file: 'src/api/conversations.ts',
    old: 'if (isVisible?.(made.id) === false) throw new AppError(\'conflict\'',
    new: 'if (isVisible?.(id) === undefined && body.plugins?.length === -1) throw new AppError(\'conflict\'',
    promise: 'A create request with the id of a conversation without the tag shows nothing of it.',
    tests: tag,
  },
  {
    file: 'src/api/requests.ts',
    old: 'response.once(\'close\', holder.hold(() => response.destroy()))',
    new: 'response.once(\'close\', holder.hold(() => undefined))',
    promise: 'Streams and uploads end with the key.',
    tests: ending,
  },
  {
    file: 'src/parts/keys/named-keys.ts',
    old: '|| !isSameDigest(digestOf(candidate), holder.key.digest)) return undefined',
    new: '|| digestOf(candidate) === \'\') return undefined',
    promise: 'The id of a key alone opens nothing.',
    tests: scopes,
  },
  {
    file: 'src/parts/keys/named-keys.ts',
    old: 'if (this.#isOver(holder.key)) return undefined',
    new: 'if (holder.key.expires === 0) return undefined',
    promise: 'An expired key opens nothing.',
    tests: ending,
  },
  {
    file: 'src/parts/keys/named-keys.ts',
    old: 'if (after.get(id) !== holder) end(holder)',
    new: 'if (after.get(id) === holder) end(holder)',
    promise: 'The connections of a revoked key end.',
    tests: ending,
  },
  {
    file: 'src/parts/console/sessions.ts',
    old: 'if (session.key !== undefined && principal === undefined) return undefined',
    new: 'if (session.key === \'\' && principal === undefined) return undefined',
    promise: 'A session of the console ends with its key.',
    tests: ending,
  },
  {
    file: 'src/api/deed.ts',
    old: 'if (method === \'GET\' && !asksForSecrets) return undefined',
    new: 'if (method === \'GET\') return undefined',
    promise: 'A read of secret values is in the audit trail.',
    tests: audit,
  },
  {
    file: 'src/parts/audit/start.ts',
    old: 'if (isRequired) await written\n',
    new: 'if (isRequired) await written.catch(() => undefined)\n',
    promise: 'With --audit required a change that cannot be recorded is not made.',
    tests: required,
  },
  {
    file: 'src/parts/audit/reading.ts',
    old: '|| hashOf(previous, json) === hash)',
    new: '|| hashOf(previous, json) !== \'\')',
    promise: 'A changed record of the audit trail is found.',
    tests: audit,
  },
  {
    file: 'src/parts/audit/start.ts',
    old: 'const { conversation_id: conversation, path: _, ...names } = target',
    new: 'const { conversation_id: conversation, ...names } = target',
    promise: 'No path of a file is in the audit trail.',
    tests: required,
  },
]
