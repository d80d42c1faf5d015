/** Long JSON texts that are parsed in turns: the value is the same as at once, and other work has turns meanwhile. */
import * as assert from 'uvu/assert'
import { TooManyValuesError } from '../../src/base/json.ts'
import { parseJsonBytes, parseJsonText, parseOwnJsonBytes, turnBytes } from '../../src/base/json-turns.ts'
import { suite } from '../support/suite.ts'
import { turnsDuring } from '../support/turns.ts'

const test = suite('base/json-turns')

test('parses short bytes at once', () => {
  assert.equal(parseJsonBytes(Buffer.from('{"a":"é"}')), { a: 'é' })
  assert.throws(() => parseJsonBytes(Buffer.from('{')), (error: unknown) => error instanceof SyntaxError)
})

test('parses long bytes to the same value, wherever characters are cut', async () => {
  for (const char of ['x', 'é', '€', '😀', '\n']) {
    const value = { text: char.repeat(turnBytes), last: `a${char}` }
    assert.equal(await parseJsonBytes(Buffer.from(JSON.stringify(value))), value, char)
  }
})

test('lets others have a turn for every MiB that is decoded, and before each further step', async () => {
  const bytes = Buffer.from(JSON.stringify('x'.repeat(4 * turnBytes)))
  assert.ok((await turnsDuring(Promise.resolve(parseJsonBytes(bytes)))) >= 6)
})

test(
  'reads a text of our own in as many turns, with one before and one behind the parsing, and without limits',
  async () => {
    const value = Array.from({ length: 60_000 }, () => 'a long enough text with é in it')
    const bytes = Buffer.from(JSON.stringify(value))
    const parsing = Promise.resolve(parseOwnJsonBytes(bytes))
    // The counting begins in the first of the turns.
    assert.is(await turnsDuring(parsing), Math.ceil(bytes.length / turnBytes) + 1)
    assert.equal(await parsing, value)
    assert.equal(parseOwnJsonBytes(Buffer.from('["é"]')), ['é'])
  },
)

test('refuses too many values in a long text before it is parsed', async () => {
  const text = '['.repeat(turnBytes + 1)
  for (const parse of [
    () => parseJsonText(text), () => parseJsonBytes(Buffer.from(text)), () => parseJsonText(text, 100),
  ]) {
    const error = await Promise.resolve(parse()).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof TooManyValuesError)
  }
})

test('refuses a byte order mark in a long text as in a short one', async () => {
  const marked = Buffer.from(`\ufeff${JSON.stringify('x'.repeat(turnBytes))}`)
  assert.ok((await Promise.resolve(parseJsonBytes(marked)).catch((thrown: unknown) => thrown)) instanceof SyntaxError)
})

test.run()
