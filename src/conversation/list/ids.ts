/**
 * Ids of new conversations. With a shard, each id begins with the two hexadecimal digits of the shard, so that a proxy
 * can find the server. An id made here is a UUID of version 4 (RFC 9562, section 5.4).
 */
import { randomUUID } from 'node:crypto'
import { AppError } from '../../base/errors.ts'

/**
 * Returns the UUID that a client gave, dashed and in lower case, or a new id.
 * @param member the member of the request that has the given id
 * @param shard two hexadecimal digits in lower case; undefined accepts any id
 * @throws AppError `invalid_input` for an id of another shard
 */
export function chooseId(given: string | undefined, member: string, shard: string | undefined): string {
  const id = given === undefined ? (shard ?? '') + randomUUID().slice(shard?.length ?? 0) : dashed(given)
  if (shard === undefined || id.startsWith(shard)) return id
  const msg = `Expected an id that begins with "${shard}", the shard of this server, or no id`
  const issue = { type: 'other_shard', loc: ['body', member], msg, input: id }
  throw new AppError('invalid_input', msg, { issues: [issue] })
}

/** Returns a UUID in lower case with dashes. The argument may lack dashes or have upper case. */
export function dashed(uuid: string): string {
  const hex = uuid.replaceAll('-', '').toLowerCase()
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
