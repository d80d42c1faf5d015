/**
 * A text that is masked while it grows: the result is the same as masking at the end, and little is left to do then.
 */
import * as assert from 'uvu/assert'
import { GrowingText, type TextHiding } from '../../../src/agents/acp/calls/growing-text.ts'
import { createMasker, type Masker } from '../../../src/base/masking.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/acp/calls/growing-text')

const secret = 'a-secret-of-the-user'

function knowing(...values: string[]): Masker {
  const masker = createMasker()
  masker.register(values)
  return masker
}

/** Counts the characters that were masked. */
function hidingOf(masker: Masker): TextHiding & { chars(): number } {
  let chars = 0
  const counted = (text: string): string => {
    chars += text.length
    return text
  }
  return {
    chars: () => chars,
    mask: (text) => masker.mask(counted(text)).replaceAll('the-session', '<session>'),
    maskDelta: (text) => text.replaceAll('the-session', '<session>'),
    stream() {
      const stream = masker.stream()
      return {
        get isOutdated() {
          return stream.isOutdated
        },
        push: (piece) => stream.push(counted(piece)),
        end: () => stream.end(),
      }
    },
  }
}

test('gives what masking the whole gives, wherever it was cut', () => {
  const masker = knowing(secret)
  const words = `the-session says ${secret}, ${'word '.repeat(8_000)}`.repeat(5)
  for (const cut of [1, 7, 4096, 48 * 1024, words.length]) {
    const text = new GrowingText(hidingOf(masker))
    for (let start = 0; start < words.length; start += cut) text.add(words.slice(start, start + cut))
    assert.is(text.isEmpty, false)
    assert.is(text.take(), masker.mask(words).replaceAll('the-session', '<session>'), `cut at ${cut}`)
    assert.is(text.isEmpty, true)
    assert.is(text.take(), '')
  }
})

test('masks each character once, and at the end no more than the last pieces', () => {
  const hiding = hidingOf(knowing(secret))
  const text = new GrowingText(hiding)
  const length = 1_000_000
  for (let left = length; left > 0; left -= 1000) text.add('x'.repeat(1000))
  assert.ok(hiding.chars() > length - 40_000, `${length - hiding.chars()} characters are left`)
  text.take()
  assert.is(hiding.chars(), length)
})

test('hides a secret that became known while the text grew, also where it stands before', () => {
  const masker = knowing('another-secret-of-the-user')
  const text = new GrowingText(hidingOf(masker))
  text.add(`${secret} ${'x'.repeat(100_000)}`)
  masker.register([secret])
  text.add(`${'y'.repeat(100_000)} ${secret}`)
  assert.not.match(text.take(), secret)
})

test.run()
