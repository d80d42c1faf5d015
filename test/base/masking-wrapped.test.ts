/**
 * Whether a secret is found that was broken into lines: by a terminal, a grid, `fold`, with or without line numbers.
 */
import * as assert from 'uvu/assert'
import { createMasker, secretMark } from '../../src/base/masking.ts'
import { suite } from '../support/suite.ts'
import { createRandom } from './masking-random.ts'

const test = suite('base/masking-wrapped')

const secret = 'sk-3fA9xQ7vLm2ZkW8rT1yB6nD4cH0jGpUe'
const phrase = 'correct horse 7 battery staple'
const keyLines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'Bq0wggSpAgEAAoIBAQC7VJTUt9Us8cKj', 'q7Zk1w==']
const key = `-----BEGIN PRIVATE KEY-----\n${keyLines.join('\n')}\n-----END PRIVATE KEY-----`

function masked(values: readonly string[], text: string): string {
  const masker = createMasker()
  masker.register(values)
  const whole = masker.mask(text)
  const stream = masker.stream()
  assert.is([...text].map((char) => stream.push(char)).join('') + stream.end(), whole)
  return whole
}

const rows = (width: number): string[] => secret.match(new RegExp(`.{1,${width}}`, 'g')) ?? []

const shapes: readonly (readonly [string, (parts: readonly string[]) => string])[] = [
  ['lines', (parts) => parts.join('\n')],
  ['terminal lines', (parts) => parts.join('\r\n')],
  ['indented lines', (parts) => parts.join('\n      ')],
  ['numbered lines', (parts) => parts.map((part, place) => `     ${place + 1}\t${part}`).join('\n')],
  ['lines numbered with a colon', (parts) => parts.map((part, place) => `${place + 9}:${part}`).join('\n')],
  ['lines numbered with an arrow', (parts) => parts.map((part, place) => `${place + 1}→${part}`).join('\n')],
  ['rows of a screen', (parts) => parts.map((part) => part.padEnd(80)).join('\n')],
  ['rows of a grid', (parts) => parts.map((part) => `│ ${part.padEnd(40)} │`).join('\n')],
  ['cells of a table', (parts) => parts.map((part, place) => `| ${place === 0 ? 12 : '  '} | ${part} |`).join('\n')],
]
for (const [name, shape] of shapes) {
  for (const width of [3, 10, 20]) {
    test(`hides a secret in ${name} of ${width} characters`, () => {
      const out = masked([secret], `before\n${shape(rows(width))}\nafter`)
      for (const part of rows(width)) assert.not.ok(out.includes(part), out)
      assert.ok(out.startsWith('before\n') && out.endsWith('\nafter'), out)
    })
  }
}

test('hides a pass phrase that was broken at a blank', () => {
  assert.is(masked([phrase], 'is correct horse 7\nbattery staple!'), `is ${secretMark}!`)
  assert.is(masked([phrase], '1\tis correct horse\n2\t7 battery staple!'), `1\tis ${secretMark}!`)
})

test('hides base64 of a secret in lines', () => {
  const encoded = Buffer.from(`user:${secret}`).toString('base64')
  const out = masked([secret], encoded.replaceAll(/.{20}/g, '$&\n'))
  assert.ok(out.includes(secretMark))
  assert.not.ok(out.includes(encoded.slice(20, 40)))
})

test('hides a secret of several lines with line numbers between, and as one line', () => {
  const value = 'ab1\ncd2\nef3\ngh4'
  assert.is(masked([value], '1\tab1\n2\tcd2\n3\tef3\n4\tgh4.'), `1\t${secretMark}.`)
  assert.is(masked([value], 'ab1cd2ef3gh4'), secretMark)
})

test('leaves ordinary lines alone', () => {
  const text = '12\tsk-3fA9xQ7\n13\tanother line\n\n| a | b |\ncorrect horse\nand battery staple'
  assert.is(masked([secret, phrase, key], text), text)
})

test('holds back no more of an ordinary text than a margin', () => {
  const masker = createMasker()
  masker.register([secret])
  const stream = masker.stream()
  stream.push(`s${' \n'.repeat(100_000)}`)
  assert.ok(stream.end().length < 1000)
})

test('gives the same result for any chunks', () => {
  const random = createRandom(Date.now())
  for (let round = 0; round < 300; round++) {
    const masker = createMasker()
    masker.register([secret, phrase, 'aab\nbaa1aab\nb', '1212121212', 's3cr'])
    const text = Array.from({ length: 60 }, () => {
      return random.pick([
        '\n', ' ', '1', '12', '\t', '|', 'aab', 'b', 'baa', 's3cr', secret.slice(random.below(8), 8 + random.below(30)),
      ])
    }).join('')
    const stream = masker.stream()
    let chunked = ''
    for (let rest = text; rest !== ''; ) {
      const cut = 1 + random.below(9)
      chunked += stream.push(rest.slice(0, cut))
      rest = rest.slice(cut)
    }
    assert.is(chunked + stream.end(), masker.mask(text), `seed ${random.seed} round ${round}`)
  }
})

test.run()
