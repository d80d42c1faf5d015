/**
 * Converts the definition of an action into the JSON Schema of a tool's parameters, and arguments back into an action.
 *
 * The schema uses a few common keywords of draft 2020-12. Errors name parameters, not their values
 * (contract/payloads.md, section 5).
 */
import type { JsonObject } from '../../../base/json.ts'
import type { Issue } from '../../../base/errors.ts'
import { parse } from '../../../schema/check.ts'
import type { Member, ObjectSchema, Schema } from '../../../schema/spec/define.ts'
import { Action } from '../../../schema/generated/actions.ts'
import { registry } from '../../../schema/registry.ts'
import type { ReadResult } from '../../../agents/tool.ts'

/** The most problems that one error names, so that the error is short. */
const problemLimit = 10

/**
 * Returns the JSON Schema of an action's members, without `kind`.
 * @param docs descriptions that replace those of the action's definition, by member
 * @throws TypeError for a name in `docs` that is no member, and for a member whose type `describe` cannot convert
 */
export function parametersOf(action: Action['kind'], docs: Readonly<Record<string, string>>): JsonObject {
  const schema = objectOf(action)
  const stray = Object.keys(docs).find((name) => schema.members[name] === undefined)
  if (stray !== undefined) throw new TypeError(`${action} has no member "${stray}" to describe`)
  const { kind, ...members } = schema.members
  return describeMembers(members, docs)
}

/** Returns the action with these arguments, or a text that names the problems. */
export function readArguments(action: Action['kind'], args: JsonObject): ReadResult {
  const parsed = parse(Action, { ...args, kind: action })
  return parsed.ok ? { ok: true, action: parsed.value } : { ok: false, problem: explain(parsed.issues) }
}

function explain(issues: readonly Issue[]): string {
  const shown = issues
    .slice(0, problemLimit)
    .map(({ loc, msg }) => (loc.length === 0 ? msg : `${loc.join('.')}: ${msg}`))
  if (issues.length > problemLimit) shown.push(`and ${issues.length - problemLimit} more`)
  return shown.join('; ')
}

function objectOf(name: string): ObjectSchema {
  const schema = registry[name]
  if (schema?.type !== 'object') throw new TypeError(`"${name}" is no object type of the contract`)
  return schema
}

function describeMembers(
  members: Readonly<Record<string, Member>>, docs: Readonly<Record<string, string>>,
): JsonObject {
  const properties: JsonObject = {}
  for (const [name, member] of Object.entries(members)) {
    properties[name] = describeMember(member, docs[name] ?? member.doc)
  }
  const required = Object.keys(members).filter((name) => members[name]?.presence === 'required')
  return { type: 'object', properties, required, additionalProperties: false }
}

function describeMember(member: Member, doc: string): JsonObject {
  const schema = describe(member.schema)
  return doc === '' ? schema : { ...schema, description: doc }
}

function describe(schema: Schema): JsonObject {
  switch (schema.type) {
    case 'string': case 'boolean': return { type: schema.type }
    case 'integer': case 'number':
      return schema.minimum === undefined ? { type: schema.type } : { type: schema.type, minimum: schema.minimum }
    case 'enumeration': return { type: 'string', enum: [...schema.values] }
    case 'array': return { type: 'array', items: describe(schema.items) }
    case 'open': return { type: 'object' }
    case 'reference': return describeMembers(objectOf(schema.name).members, {})
    default: throw new TypeError(`No tool has an argument of the type "${schema.type}" yet`)
  }
}
