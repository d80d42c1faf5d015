/**
 * Removes secrets from the `input` that a validation error quotes (contract/others.md, section 0.2).
 *
 * A value is secret because of the name of its member, or because it is inside a member such as `env` or `headers`
 * (`secretContainer`). Credentials in URLs are secret too.
 */
import type { Issue } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { redactAddresses } from '../base/secret-address.ts'

export const redacted = '<redacted>'

const secretWord = /authorization|cookie|credential|key|password|secret|session|token/i

/**
 * Matches the names of members below which every value is hidden. `auth` and `extra_body` are not in the list of the
 * contract.
 */
const secretContainer = /(?:^|_)(?:environment|env|headers|auth|extra_body)$/i

/** The types of issues about a value that should be an object. */
const objectWanted: ReadonlySet<string> = new Set(['dict_type', 'model_attributes_type'])

/** The longest text, in characters, that is shown where an object was expected. An API key is longer. */
const shownText = 7

/** Names of further secret members: clients send a secret as `{ name, value }`. */
const secretNames: ReadonlySet<string> = new Set(['value'])

/** The largest size of an input that is shown, as `sizeOf` counts it. */
const sizeLimit = 4096

/**
 * Redacts the input of an issue before the issue leaves the server. A secret name in `loc` hides the whole input.
 * Otherwise, an input that is larger than `sizeLimit` is left out.
 */
export function redactIssue(issue: Issue): Issue {
  if (issue.input === undefined) return issue
  const { input, ...rest } = issue
  if (issue.loc.some((place) => typeof place === 'string' && isSecretName(place))) return { ...rest, input: redacted }
  if (sizeOf(input, sizeLimit) > sizeLimit) return rest
  const isContained = issue.loc.some((place) => typeof place === 'string' && secretContainer.test(place))
  const shown = objectWanted.has(issue.type) ? withoutTexts(input) : input
  return { ...rest, input: redact(shown, isContained) }
}

function redact(value: unknown, isContained: boolean): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => redact(item, isContained))
  if (typeof value === 'string' && !isContained) return redactAddresses(value, redacted)
  if (!isObject(value)) return isContained ? redacted : value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    if (isSecretName(name)) return [name, redacted]
    return [name, redact(member, isContained || secretContainer.test(name))]
  })
  return Object.fromEntries(members)
}

/** Hides texts of more than `shownText` characters that were sent where an object was expected. */
function withoutTexts(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(withoutTexts)
  return typeof input === 'string' && input.length > shownText ? redacted : input
}

function isSecretName(name: string): boolean {
  return secretWord.test(name) || secretNames.has(name.toLowerCase())
}

/** Counts the characters of texts and names, 1 for each value, and 1 more for an array's item. Stops above `limit`. */
function sizeOf(value: unknown, limit: number): number {
  let size = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && size <= limit) {
    const next = waiting.pop()
    size += typeof next === 'string' ? next.length + 1 : 1
    if (typeof next !== 'object' || next === null) continue
    const names = Array.isArray(next) ? [] : Object.keys(next)
    size += Array.isArray(next) ? next.length : names.join('').length
    if (size <= limit) waiting.push(...Object.values(next))
  }
  return size
}
