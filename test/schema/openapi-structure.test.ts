/**
 * The OpenAPI document as a document: everything it points at is there, its unions can be told apart, its defaults fit,
 * and it describes the routes of access.ts, all of them and no other.
 */
import * as assert from 'uvu/assert'
import { allParts } from '../../src/all-parts.ts'
import { access } from '../../src/access.ts'
import { isObject } from '../../src/base/json.ts'
import { openapi } from '../../src/schema/generated/openapi.ts'
import { member } from '../support/rest.ts'
import { suite } from '../support/suite.ts'
import { faultsOf, resolve } from './json-schema.ts'

const test = suite('schema openapi structure')
const document: unknown = JSON.parse(openapi)

/** Every object of the document, with its place. */
const nodes = [...walk(document, '#')]
const methods = ['get', 'put', 'post', 'delete', 'patch']
const operations = Object.entries(objectAt('#/paths')).flatMap(([template, item]) => {
  return Object.entries(isObject(item) ? item : {}).map(([method, operation]) => ({ template, method, operation }))
})

test('has the members that OpenAPI 3.1 knows, and no other', () => {
  assert.equal(Object.keys(objectAt('#')), ['openapi', 'info', 'security', 'paths', 'components'])
  assert.equal(Object.keys(objectAt('#/components')), ['schemas'])
  for (const { template, method, operation } of operations) {
    assert.ok(methods.includes(method), `${method} ${template}`)
    assert.ok(isObject(operation))
    const known = ['tags', 'summary', 'operationId', 'parameters', 'requestBody', 'responses']
    assert.equal(Object.keys(operation).filter((name) => !known.includes(name)), [])
    for (const [status, answer] of Object.entries(isObject(operation['responses']) ? operation['responses'] : {})) {
      assert.match(status, /^(?:[2-5]\d\d|4XX)$/)
      assert.is(typeof (isObject(answer) && answer['description']), 'string')
    }
  }
})

test('describes every route of the core and of the parts but the socket, and no other', () => {
  const described = operations.map(({ template, method }) => `${method.toUpperCase()} ${template}`)
  const ofParts = allParts.flatMap(({ routes: names = {} }) => Object.keys(names))
  const routes = [...Object.keys(access).filter((name) => !name.includes(' /sockets/')), ...ofParts]
  // OpenAPI has no parameter that takes several segments.
  assert.equal(described.sort(), routes.map((name) => name.replace('...}', '}')).sort())
})

test('points only at what is there', () => {
  const references = nodes.map(({ node }) => node['$ref']).filter((reference) => reference !== undefined)
  assert.ok(references.length > 100)
  for (const reference of references) assert.ok(isObject(resolve(String(reference), document)), String(reference))
})

test('lists in every discriminator exactly the variants, each with its own constant', () => {
  const unions = nodes.filter(({ node }) => node['oneOf'] !== undefined)
  assert.ok(unions.length >= 4)
  for (const { node, place } of unions) {
    const { discriminator, oneOf } = node
    assert.ok(isObject(discriminator) && isObject(discriminator['mapping']), place)
    const { mapping, propertyName } = discriminator
    assert.equal(Object.values(mapping), listOf(oneOf).map((variant) => isObject(variant) && variant['$ref']), place)
    for (const [tag, reference] of Object.entries(mapping)) {
      const own = resolve(`${String(reference)}/properties/${String(propertyName)}`, document)
      assert.is(isObject(own) && own['const'], tag, `${place} ${tag}`)
    }
  }
})

test('is written so that generators of clients take all of it', () => {
  for (const { node, place } of nodes) {
    const takesNull = listOf(node['anyOf']).some((choice) => isObject(choice) && choice['type'] === 'null')
    const isStructured = typeof node['default'] === 'object' && node['default'] !== null
    // openapi-python-client drops the type, and each operation that needs it.
    assert.not(takesNull && isStructured, `${place}: a default that is an object or a list beside null`)
    // openapi-typescript takes such an object for one without members.
    const hasMembers = isObject(node['properties']) && Object.keys(node['properties']).length > 0
    const isObjectType = node['type'] === 'object' && !/\/(?:properties|default)$/.test(place)
    const isClosed = node['additionalProperties'] !== undefined
    assert.not(isObjectType && !hasMembers && !isClosed, `${place}: an object of nothing`)
  }
})

test('says what a refusal is, which bodies may be missing, and how names look', () => {
  const create = operationAt('post', '/api/conversations')
  const schemas = ['HTTPValidationError', 'ErrorDetail'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
  const jsonOf = (schema: unknown): unknown => ({ 'application/json': { schema } })
  assert.equal(resolve('#/responses/422/content', create), jsonOf({ anyOf: schemas }))
  assert.equal(resolve('#/responses/4XX/content', create), jsonOf(schemas[1]))
  assert.is(resolve('#/requestBody/required', create), true)
  const optional = ['/api/conversations/{conversation_id}/fork', '/api/skills', '/api/hooks', '/api/sub-agents']
  for (const path of optional) assert.is(resolve('#/requestBody/required', operationAt('post', path)), false, path)
  const nameAt = (method: string, path: string): unknown => {
    const [first] = listOf(resolve('#/parameters', operationAt(method, path)))
    return isObject(first) ? first['schema'] : undefined
  }
  assert.equal(nameAt('post', '/api/profiles/{name}/rename'), { $ref: '#/components/schemas/ProfileName' })
  const pattern = '^[a-zA-Z][a-zA-Z0-9_]{0,63}$'
  assert.equal(nameAt('delete', '/api/settings/secrets/{name}'), { type: 'string', pattern })
})

test('says how long a text in a query may be', () => {
  const endless = operations.flatMap(({ method, template, operation }) => {
    return listOf(member(operation, 'parameters')).filter((one) => {
      const schema = member(one, 'schema')
      const isBound = ['enum', 'format', 'maxLength', 'pattern'].some((rule) => member(schema, rule) !== undefined)
      return member(one, 'in') === 'query' && member(schema, 'type') === 'string' && !isBound
    }).map((one) => `${method} ${template}: ${String(member(one, 'name'))}`)
  })
  assert.equal(endless, [])
})

test('gives defaults that fit', () => {
  const withDefault = nodes.filter(({ node, place }) => node['default'] !== undefined && !place.endsWith('/properties'))
  assert.ok(withDefault.length > 50)
  for (const { node, place } of withDefault) assert.equal(faultsOf(node['default'], node, document), [], place)
})

test.run()

function operationAt(method: string, template: string): unknown {
  return operations.find((one) => one.method === method && one.template === template)?.operation
}

interface Node {
  readonly node: Readonly<Record<string, unknown>>
  readonly place: string
}

function* walk(value: unknown, place: string): Generator<Node> {
  if (isObject(value)) yield { node: value, place }
  const entries = isObject(value) || Array.isArray(value) ? Object.entries(value) : []
  for (const [name, member] of entries) yield* walk(member, `${place}/${name}`)
}

function objectAt(reference: string): Record<string, unknown> {
  const found = reference === '#' ? document : resolve(reference, document)
  assert.ok(isObject(found), reference)
  return found
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
