/** Whether the masker hides every form of a secret, whole or in any chunks, and nothing else. */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { secretForms } from '../../src/base/masking-forms.ts'
import { createMasker, secretMark } from '../../src/base/masking.ts'
import { suite } from '../support/suite.ts'
import { maskingOf } from '../../src/base/masking-values.ts'
import { createRandom, type Random } from './masking-random.ts'

const test = suite('base/masking')

const secret = 'p@ss "w/rd"+é\nline'

test('gives the same text back while nothing is registered', () => {
  const masker = createMasker()
  assert.is(masker.mask('hunter2hunter2'), 'hunter2hunter2')
  const stream = masker.stream()
  assert.is(stream.push('hunter2') + stream.end(), 'hunter2')
})

const shapes: readonly (readonly [string, string])[] = [
  ['raw', secret],
  ['with the line ends of a terminal', secret.replaceAll('\n', '\r\n')],
  ['JSON', JSON.stringify({ value: secret })],
  ['JSON inside JSON', JSON.stringify(JSON.stringify({ value: secret }))],
  ['ASCII JSON', JSON.stringify({ value: secret }).replaceAll('é', '\\u00e9')],
  ['URL component', `https://host/?a=${encodeURIComponent(secret)}&b=1`],
  ['URL component in lower case', encodeURIComponent(secret).replaceAll(/%../g, (hex) => hex.toLowerCase())],
  ['form', new URLSearchParams({ a: secret }).toString()],
  ['base64', Buffer.from(secret).toString('base64')],
  ['base64 behind one byte', Buffer.from(`:${secret}`).toString('base64')],
  ['base64 behind two bytes', Buffer.from(`u:${secret}`).toString('base64')],
  ['base64 in front of other bytes', Buffer.from(`${secret}!x`).toString('base64')],
  ['base64url', Buffer.from(`>${secret}?`).toString('base64url')],
]
for (const [name, text] of shapes) {
  test(`hides a secret as ${name}`, () => {
    const masker = createMasker()
    masker.register([secret])
    const masked = masker.mask(`before ${text} after`)
    assert.ok(masked.includes(secretMark), masked)
    assert.ok(masked.startsWith('before ') && masked.endsWith(' after'), masked)
    assert.not.ok(secretForms(secret).some((form) => masked.includes(form)))
  })
}

test('hides the base64 of a secret whose encoding uses both extra characters', () => {
  const masker = createMasker()
  const binary = '~~~???>>>~~~'
  masker.register([binary])
  for (const encoding of ['base64', 'base64url'] as const) {
    assert.is(masker.mask(Buffer.from(binary).toString(encoding)), secretMark)
  }
})

test('replaces exactly the secret and keeps what is around it', () => {
  const masker = createMasker()
  masker.register(['hunter2hunter2', 'correct-horse'])
  assert.is(masker.mask('a=hunter2hunter2;b=correct-horse.'), `a=${secretMark};b=${secretMark}.`)
  assert.is(masker.mask('hunter2hunter'), 'hunter2hunter')
})

test('unites overlapping secrets under one mark', () => {
  const masker = createMasker()
  masker.register(['abcdefgh', 'efghijkl', 'cdefghij'])
  assert.is(masker.mask('<abcdefghijkl>'), `<${secretMark}>`)
})

test('finds a secret that lies inside the beginning of a longer one', () => {
  const masker = createMasker()
  masker.register(['inside-secret', 'long inside-secret value'])
  for (const text of ['long inside-secret val', 'long inside-secret', 'long inside-secret value']) {
    const stream = masker.stream()
    const out = [...text].map((char) => stream.push(char)).join('') + stream.end()
    assert.is(out, masker.mask(text))
    assert.not.ok(out.includes('inside-secret'))
  }
})

test('ignores values that are too short, blank, ordinary, or part of the mark itself', () => {
  const masker = createMasker()
  const values = ['s3c', '', '          ', 'secret-hidden', 'terminal', '/usr/bin/node', 'api.example.com', '--verbose']
  masker.register(values)
  assert.is(masker.mask(values.join(' ')), values.join(' '))
})

test('hides a value of 4 to 7 characters as a whole word only', () => {
  const masker = createMasker()
  masker.register(['s3cr', 'p@ss!', 'wörtli', '4711'])
  const hidden = ['s3cr', 'a s3cr.', '(s3cr)', 's3cr-x', 'p@ss!x', '"\\ns3cr"', 'wörtli', '{"pin":4711}']
  for (const text of hidden) assert.ok(masker.mask(text).includes(secretMark), text)
  for (const text of ['as3cr', 's3crs', 's3cr_', 'üs3cr', 'wörtlich', '14711', '47110', 'nwörtli']) {
    assert.is(masker.mask(text), text)
  }
  assert.is(masker.mask('xp@ss! p@ss!x s3cr'), `xp@ss! ${secretMark}x ${secretMark}`)
})

test('judges a word at the border of chunks as in one piece', () => {
  const masker = createMasker()
  masker.register(['s3cr'])
  for (const text of ['s3cr', ' s3cr ', 'as3cr', 's3cra', 's3crs3cr', 's3cr s3cr', '\\ns3cr', 'xns3cr']) {
    const stream = masker.stream()
    assert.is([...text].map((char) => stream.push(char)).join('') + stream.end(), masker.mask(text), text)
  }
})

test('looks for a value without the blanks around it', () => {
  const masker = createMasker()
  masker.register(['  trailing-newline\n', '  abcd  '])
  assert.is(masker.mask('trailing-newline|  abcd  |abcde'), `${secretMark}|  ${secretMark}  |abcde`)
})

test('hides a value until everyone who registered it has let go', () => {
  const masker = createMasker()
  const first = masker.register(['hunter2hunter2'])
  const second = masker.register(['hunter2hunter2'])
  first()
  first()
  assert.is(masker.mask('hunter2hunter2'), secretMark)
  second()
  assert.is(masker.mask('hunter2hunter2'), 'hunter2hunter2')
})

test('refuses more characters than the limit, and takes them again after a release', () => {
  const masker = createMasker({ limitChars: 150 })
  const release = masker.register(['0123456789ab'])
  try {
    masker.register(['another-secret', 'yet-another-secret'])
    assert.unreachable()
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'invalid_input')
    assert.not.ok(error.message.includes('another-secret'))
  }
  release()
  masker.register(['another-secret'])
  assert.is(masker.mask('another-secret'), secretMark)
})

test('counts a value that is registered several times once', () => {
  const masker = createMasker({ limitChars: 100 })
  const release = masker.register(['0123456789ab', '0123456789ab'])
  masker.register(['0123456789ab'])
  release()
  assert.throws(() => masker.register(['another-secret']))
  assert.is(masker.mask('0123456789ab'), secretMark)
})

test('hides a secret that is registered while a stream holds its beginning', () => {
  const masker = createMasker()
  masker.register(['hunter2-first'])
  const stream = masker.stream()
  let out = stream.push('x hunter2')
  assert.is(out, 'x ')
  masker.register(['hunter2-second'])
  out += stream.push('-second y')
  out += stream.end()
  assert.is(out, `x ${secretMark} y`)
})

test('keeps a mark single when the set changes in the middle of a hidden part', () => {
  const masker = createMasker()
  masker.register(['aaaaaaaa'])
  const stream = masker.stream()
  let out = stream.push('aaaaaaaaaa')
  masker.register(['another-secret'])
  out += stream.push('aaab') + stream.end()
  assert.is(out, `${secretMark}b`)
})

test('holds back less than the longest form, even when a hidden part goes on and on', () => {
  const masker = createMasker()
  masker.register(['aaaaaaaa'])
  const stream = masker.stream()
  let out = ''
  for (let round = 0; round < 1000; round++) out += stream.push('a'.repeat(100))
  out += stream.push('b')
  assert.is(out, `${secretMark}b`)
  assert.is(stream.end(), '')
})

test('can be used for another text after its end', () => {
  const masker = createMasker()
  masker.register(['hunter2hunter2'])
  const stream = masker.stream()
  assert.is(stream.push('hunter2hun') + stream.end(), 'hunter2hun')
  assert.is(stream.push('ter2') + stream.end(), 'ter2')
})

test('takes lone surrogates', () => {
  const masker = createMasker()
  masker.register(['\ud800 lonely surrogate'])
  assert.is(masker.mask('<\ud800 lonely surrogate>'), `<${secretMark}>`)
})

test('never lets a registered form through, whatever the chunks are', () => {
  const random = createRandom(Date.now())
  for (let round = 0; round < 300; round++) {
    const secrets = Array.from({ length: 1 + random.below(4) }, () => randomText(random, 8 + random.below(12)))
    const masker = createMasker()
    masker.register(secrets)
    // A random text may be a path such as "/ab/aab/", which is not masked.
    const hidden = secrets.filter((value) => value.trim().length >= 8 && maskingOf(value) === 'everywhere')
    const forms = hidden.flatMap((value) => secretForms(value.trim()))
    const text = Array.from({ length: 12 }, () => piece(random, forms)).join('')
    const whole = masker.mask(text)
    const stream = masker.stream()
    let chunked = ''
    for (let rest = text; rest !== ''; ) {
      const cut = 1 + random.below(9)
      chunked += stream.push(rest.slice(0, cut))
      rest = rest.slice(cut)
    }
    chunked += stream.end()
    const context = `seed ${random.seed} round ${round}`
    assert.is(chunked, whole, context)
    for (const part of whole.split(secretMark)) {
      assert.not.ok(forms.some((form) => part.includes(form)), context)
    }
    assert.is(whole.split(secretMark).join('').length <= text.length, true, context)
  }
})

/** A small alphabet makes overlaps and near misses likely; its characters all change in some form. */
function randomText(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(['a', 'b', '/', '"', 'é', '\n', ' '])).join('')
}

function piece(random: Random, forms: readonly string[]): string {
  if (forms.length === 0 || random.below(3) === 0) return randomText(random, random.below(10))
  const form = random.pick(forms)
  return random.below(2) === 0 ? form : form.slice(random.below(3), form.length - random.below(3))
}

test.run()
