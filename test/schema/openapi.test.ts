import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { actionKinds } from '../../src/schema/generated/actions.ts'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { observationKinds } from '../../src/schema/generated/observations.ts'
import { openapi as text } from '../../src/schema/generated/openapi.ts'
import { toolDefinitionKinds } from '../../src/schema/generated/tools.ts'
import { suite } from '../support/suite.ts'

const test = suite('schema openapi')
const document: unknown = JSON.parse(text)

test('has the title and version of the specification, no servers and an empty security requirement', () => {
  assert.is(at('openapi'), '3.1.0')
  assert.equal(at('info'), { title: 'Agent Server', version: '0.1.0' })
  assert.equal(at('security'), [])
  assert.is(at('servers'), undefined)
  assert.is(at('components', 'securitySchemes'), undefined)
})

test('tells the variants of a union apart by kind', () => {
  const unions: readonly (readonly [string, readonly string[]])[] = [
    ['Event', eventKinds],
    ['Action', actionKinds],
    ['Observation', observationKinds],
    ['ToolDefinition', toolDefinitionKinds],
  ]
  for (const [name, kinds] of unions) {
    const references = kinds.map((kind) => `#/components/schemas/${kind}`)
    assert.equal(at('components', 'schemas', name, 'oneOf'), references.map(($ref) => ({ $ref })))
    assert.equal(at('components', 'schemas', name, 'discriminator'), {
      propertyName: 'kind',
      mapping: Object.fromEntries(kinds.map((kind, index) => [kind, references[index]])),
    })
    for (const kind of kinds) {
      assert.equal(at('components', 'schemas', kind, 'properties', 'kind'), { type: 'string', const: kind })
    }
  }
})

test('describes the reading of one event as the specification does', () => {
  const operation = at('paths', '/api/conversations/{conversation_id}/events/{event_id}', 'get')
  assert.ok(isObject(operation))
  assert.equal(operation['tags'], ['Events'])
  assert.is(operation['requestBody'], undefined)
  assert.equal(operation['parameters'], [
    { name: 'conversation_id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
    { name: 'event_id', in: 'path', required: true, schema: { type: 'string' } },
  ])
  const reference = (name: string): unknown => {
    return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } }
  }
  assert.equal(operation['responses'], {
    200: { description: 'Successful Response', content: reference('Event') },
    404: { description: 'Item not found', content: reference('ErrorDetail') },
    422: { description: 'Validation Error', content: reference('HTTPValidationError') },
  })
})

test('closes events and leaves requests open', () => {
  for (const kind of [...eventKinds, ...actionKinds, ...observationKinds]) {
    assert.is(at('components', 'schemas', kind, 'additionalProperties'), false)
  }
  assert.is(at('components', 'schemas', 'SendMessageRequest', 'additionalProperties'), undefined)
})

test('marks exactly the required members of an event as required', () => {
  assert.equal(at('components', 'schemas', 'ActionEvent', 'required'),
    ['kind', 'thought', 'tool_name', 'tool_call_id', 'tool_call', 'llm_response_id'])
  assert.equal(at('components', 'schemas', 'PauseEvent', 'required'), ['kind'])
  assert.equal(at('components', 'schemas', 'ActionEvent', 'properties', 'source'),
    { $ref: '#/components/schemas/EventSource', default: 'agent' })
  assert.equal(at('components', 'schemas', 'ValidationError', 'required'), ['loc', 'msg', 'type'])
})

test('refers to no component that is missing and lists none that nothing refers to', () => {
  const schemas = at('components', 'schemas')
  assert.ok(isObject(schemas))
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)]
  assert.equal([...new Set(references.map((match) => match[1] ?? ''))].sort(), Object.keys(schemas))
})

test('describes each path parameter that a path has', () => {
  const paths = at('paths')
  assert.ok(isObject(paths))
  const ids = new Set<unknown>()
  for (const [path, operations] of Object.entries(paths)) {
    assert.ok(isObject(operations))
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    for (const operation of Object.values(operations)) {
      assert.ok(isObject(operation))
      const parameters: readonly unknown[] = Array.isArray(operation['parameters']) ? operation['parameters'] : []
      const placed = parameters.filter((parameter) => isObject(parameter) && parameter['in'] === 'path')
      assert.equal(placed.map((parameter) => isObject(parameter) && parameter['name']), names)
      assert.not(ids.has(operation['operationId']))
      ids.add(operation['operationId'])
    }
  }
})

test('has no operation of other servers that this one lacks', () => {
  assert.not.match(text, 'generate_title')
})

test.run()

function at(...path: readonly string[]): unknown {
  return path.reduce((value: unknown, name) => (isObject(value) ? value[name] : undefined), document)
}
