/** Finds the generated functions of a type by its name, for tests that go through all types. */
import { registry } from '../../src/schema/registry.ts'
import * as actions from '../../src/schema/generated/actions.ts'
import * as api from '../../src/schema/generated/api.ts'
import * as conversations from '../../src/schema/generated/conversations.ts'
import * as events from '../../src/schema/generated/events.ts'
import * as hooks from '../../src/schema/generated/hooks.ts'
import * as llm from '../../src/schema/generated/llm.ts'
import * as observations from '../../src/schema/generated/observations.ts'
import * as secrets from '../../src/schema/generated/secrets.ts'
import * as settings from '../../src/schema/generated/settings.ts'
import * as tools from '../../src/schema/generated/tools.ts'
import * as values from '../../src/schema/generated/values.ts'

export interface GeneratedType {
  readonly name: string
  readonly is: (value: unknown) => boolean
  /** Absent where the normal form is the input. */
  readonly to: ((input: unknown) => unknown) | undefined
}

const exported = new Map<string, unknown>(Object.entries({
  ...actions,
  ...api,
  ...conversations,
  ...events,
  ...hooks,
  ...llm,
  ...observations,
  ...secrets,
  ...settings,
  ...tools,
  ...values,
}))

/** All types that have a validator. */
export const generatedTypes: readonly GeneratedType[] = Object.keys(registry).flatMap((name) => {
  const [is, to] = [exported.get(`is${name}`), exported.get(`to${name}`)]
  if (!isFunction(is)) return []
  return [{ name, is: (value: unknown) => is(value) === true, to: isFunction(to) ? to : undefined }]
})

export function generatedType(name: string): GeneratedType {
  const found = generatedTypes.find((type) => type.name === name)
  if (found === undefined) throw new TypeError(`There is no validator for "${name}"`)
  return found
}

function isFunction(value: unknown): value is (input: unknown) => unknown {
  return typeof value === 'function'
}
