/** Which values are hidden: values that look like secrets, and no ordinary ones. */
import * as assert from 'uvu/assert'
import { maskingOf, whyNotMasked } from '../../src/base/masking-values.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/masking-values')

const ordinary = [
  'terminal', 'Production', 'true', 'enabled', 'SECRET', '/usr/bin/node', '~/.config/gcloud', './src/index.ts',
  '/home/Ada/Work', 'localhost', 'localhost:8080', '127.0.0.1:5432', 'api.example.com',
  'https://oauth2.googleapis.com/token', 'bot@my-project.iam.gserviceaccount.com', '--verbose', '--log-level=debug',
  ' terminal\n',
]
for (const value of ordinary) {
  test(`does not hide ${JSON.stringify(value)}`, () => {
    assert.is(maskingOf(value), 'none')
    assert.is(whyNotMasked(value), 'is a common word, path, host or flag')
  })
}

const secret = [
  'correct-horse-battery', 'correct horse battery staple', 'hunter2hunter2', 'swordfish', '12345678',
  '/9j/4AAQSkZJRgABAQEAYABgAAD', '/alrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'eyJhbGciOi.eyJzdWIiOiI.SflKxwRJSM', 'https://user:pass@host.example.com/',
  'https://hooks.slack.com/services/T0000/B0000/XXXXXXXX', '-Abc123def', 'word.battery',
  'https://hooks.example.com/x/3f9a8b7c6d5e4f3a2b1c0d9e8f7a',
]
for (const value of secret) test(`hides ${value}`, () => assert.is(maskingOf(value), 'everywhere'))

test('hides 4 to 7 characters as a whole word, and fewer not at all', () => {
  assert.is(maskingOf('s3crets'), 'whole words')
  assert.is(maskingOf(' 4711 '), 'whole words')
  assert.is(maskingOf('s3c'), 'none')
  assert.is(whyNotMasked('s3c'), 'has fewer than 4 characters')
  assert.is(whyNotMasked('s3crets'), undefined)
})

test('takes no long time for a long value', () => {
  assert.is(maskingOf('/a'.repeat(500_000)), 'everywhere')
})

test.run()
