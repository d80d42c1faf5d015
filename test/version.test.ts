import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { suite } from './support/suite.ts'
import { isObject, parseJson } from '../src/base/json.ts'
import { version } from '../src/version.ts'

const test = suite('version')

test('is that of the package', () => {
  const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.is(isObject(manifest) ? manifest['version'] : undefined, version)
})

test.run()
