/**
 * Reads webhooks from environment variables, in the form that the OpenHands agent server reads:
 *
 *     OH_WEBHOOKS                  a list in JSON, or the number of webhooks
 *     OH_WEBHOOKS_0                the first webhook: an object in JSON, or an address
 *     OH_WEBHOOKS_0_BASE_URL       a member of the first webhook; replaces this member of the object or the address
 */
import { isObject, parseJson } from '../../base/json.ts'
import type { OtherValue } from '../../option.ts'

type Environment = Readonly<Record<string, string | undefined>>

const name = 'OH_WEBHOOKS'
/** The most webhooks that are read from variables. */
const variableLimit = 100
/** The members of a webhook whose environment variables hold plain text, not JSON. */
const texts: readonly string[] = ['base_url', 'secret']

/**
 * Returns the webhooks in the environment variables; undefined if there are none. An unusable value is returned too:
 * `areWebhooks` refuses it later.
 */
export function readVariables(environment: Environment): OtherValue | undefined {
  const whole = valueOf(environment[name] || '[]')
  if (!Array.isArray(whole) && !Number.isInteger(whole)) return { value: whole, source: name }
  const list: readonly unknown[] = Array.isArray(whole) ? whole : []
  const found: unknown[] = []
  for (let index = 0; index < variableLimit; index++) {
    const item = itemOf(list[index], `${name}_${index}`, environment)
    if (item === undefined) break
    found.push(item)
  }
  // If OH_WEBHOOKS is a number, but not the number of webhooks found, returns it: `areWebhooks` refuses it later.
  const value = Number.isInteger(whole) && whole !== found.length ? whole : found
  return value === whole || found.length > 0 ? { value, source: `${name}_*` } : undefined
}

function itemOf(listed: unknown, prefix: string, environment: Environment): unknown {
  const own = environment[prefix]
  const item = own === undefined || own === '' ? listed : valueOf(own)
  const members = Object.entries(environment).flatMap(([variable, text]) => {
    if (!variable.startsWith(`${prefix}_`) || text === undefined) return []
    const member = variable.slice(prefix.length + 1).toLowerCase()
    return [[member, texts.includes(member) ? text : valueOf(text)] as const]
  })
  if (members.length === 0) return item
  const base = typeof item === 'string' ? { base_url: item } : isObject(item) ? item : {}
  return { ...base, ...Object.fromEntries(members) }
}

/** Parses a text as JSON. Accepts `true` and `false` in any letter case. Returns a text that is no JSON unchanged. */
function valueOf(text: string): unknown {
  if (/^true$/i.test(text)) return true
  if (/^false$/i.test(text)) return false
  try {
    return parseJson(text)
  } catch {
    return text // The text is no JSON.
  }
}
