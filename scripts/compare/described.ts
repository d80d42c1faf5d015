/**
 * Requests that follow from the descriptions of both servers: for each operation that both have, an id that is not
 * there, an id of the wrong form, an empty body, a body of wrong types, broken JSON, a query of wrong values, no key.
 *
 * Nothing here succeeds on purpose; requests with an effect are in scenes.ts. An operation that one server alone
 * describes is not asked.
 */
import { isObject } from '../../src/base/json.ts'
import { memberAt } from '../real/member.ts'
import type { Stage } from './stage.ts'

const unknownId = '00000000-0000-4000-8000-000000000000'

/** An operation that both describe: `GET /api/conversations/{conversation_id}`. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly hasBody: boolean
  /** Names of the query. */
  readonly query: readonly string[]
}

/** Requests of these would do something: they start a login, a download, a program, or throw everything away. */
const neverAsked = [
  'POST /api/llm/subscription/openai/device/start', 'POST /api/skills/sync', 'DELETE /api/bash/bash_events',
]

/** The operations of both descriptions, in the order of theirs. */
export function sharedOperations(theirs: unknown, ours: unknown): Operation[] {
  const known = new Set(operationsOf(ours).map(nameOf))
  return operationsOf(theirs).filter((one) => known.has(nameOf(one)) && !neverAsked.includes(nameOf(one)))
}

/** The operations that one of both describes alone. */
export function loneOperations(theirs: unknown, ours: unknown): { theirs: string[]; ours: string[] } {
  const [left, right] = [theirs, ours].map((one) => operationsOf(one).map(nameOf))
  const without = (names: string[] = [], others: string[] = []): string[] => {
    return names.filter((one) => !others.includes(one))
  }
  return { theirs: without(left, right), ours: without(right, left) }
}

/** Parameters have names of their own in each description. */
function nameOf({ method, path }: Operation): string {
  return `${method} ${path.replace(/\{\w+(?::path)?\}/g, '{}')}`
}

function operationsOf(document: unknown): Operation[] {
  const paths = memberAt(document, 'paths')
  if (!isObject(paths)) return []
  return Object.entries(paths).flatMap(([path, item]) => Object.entries(isObject(item) ? item : {})
    .map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      hasBody: memberAt(operation, 'requestBody', 'content', 'application/json') !== undefined,
      query: queryOf(operation),
    })))
}

function queryOf(operation: unknown): string[] {
  const parameters = memberAt(operation, 'parameters')
  if (!Array.isArray(parameters)) return []
  return parameters.filter((one) => memberAt(one, 'in') === 'query').map((one) => String(memberAt(one, 'name')))
}

/** Asks everything of one operation. */
export async function askOperation(stage: Stage, operation: Operation): Promise<void> {
  const { method, path, hasBody, query } = operation
  const name = `${method} ${path}`
  const fill = (value: string): string => `${method} ${path.replace(/\{\w+(?::path)?\}/g, value)}`
  const hasId = path.includes('{')
  const body = hasBody ? { body: {} } : {}
  await stage.ask(`${name}: no key`, fill(unknownId), { ...body, open: true, as: 'shape' })
  await stage.ask(`${name}: a wrong key`, fill(unknownId), {
    ...body, open: true, headers: { 'x-session-api-key': 'wrong' }, as: 'shape',
  })
  if (hasId) {
    await stage.ask(`${name}: unknown id`, fill(unknownId), body)
    await stage.ask(`${name}: an id of the wrong form`, fill('not%20an%20id'), body)
  }
  if (hasBody) {
    await stage.ask(`${name}: no body`, fill(unknownId))
    if (!hasId) await stage.ask(`${name}: a list instead of an object`, fill(unknownId), { body: [] })
    await stage.ask(`${name}: broken JSON`, fill(unknownId), { raw: { type: 'application/json', text: '{"a":' } })
  }
  for (const one of query) await stage.ask(`${name}: ${one} is wrong`, `${fill(unknownId)}?${one}=%00%20-1`, body)
}
