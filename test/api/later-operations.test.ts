/** Whether the table of the operations of level 1.58.0 in src/api/README.md agrees with the description. */
import * as assert from 'uvu/assert'
import { readFileSync } from 'node:fs'
import { isObject } from '../../src/base/json.ts'
import { openapi } from '../../src/schema/generated/openapi.ts'
import { suite } from '../support/suite.ts'

const test = suite('api/later-operations')

/** Two operations with other names of their parameters are the same. */
function normal(operation: string): string {
  return operation.replaceAll(/\{[^}]+\}/g, '{}')
}

function described(): Set<string> {
  const document: unknown = JSON.parse(openapi)
  const paths = isObject(document) && isObject(document['paths']) ? document['paths'] : {}
  return new Set(Object.entries(paths).flatMap(([path, item]) => {
    return Object.keys(isObject(item) ? item : {}).map((method) => normal(`${method.toUpperCase()} ${path}`))
  }))
}

function rows(): { operation: string; here: string }[] {
  const text = readFileSync(new URL('../../../src/api/README.md', import.meta.url), 'utf8')
  const section = text.slice(text.indexOf('| Operations of 1.58.0 |'))
  return section.slice(0, section.indexOf('\n\n')).split('\n').slice(2).flatMap((row) => {
    const [, operations = '', here = ''] = row.split('|').map((cell) => cell.trim())
    return [...operations.matchAll(/`([^`]+)`/g)].map(([, operation = '']) => ({ operation, here }))
  })
}

test('the table of the operations of a later level agrees with the description', () => {
  const known = described()
  assert.is(known.has('GET /api/bash/bash_events/search'), true)
  const stated = rows()
  assert.is(stated.length, 48)
  assert.is(new Set(stated.map(({ operation }) => normal(operation))).size, 48)
  for (const { operation, here } of stated) {
    assert.is(known.has(normal(operation)) ? 'yes' : 'no', here, operation)
  }
})

test.run()
