/** Masking in turns gives the same as at once, and lets others have theirs. */
import * as assert from 'uvu/assert'
import { maskJson } from '../../src/base/mask-json.ts'
import { maskedTexts, maskJsonInTurns, maskTextInTurns, turnWeight, weightOf } from '../../src/base/mask-turns.ts'
import { createMasker } from '../../src/base/masking.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/mask-turns')

const secret = 'sk-a-secret-of-some-length'
const masker = createMasker()
masker.register([secret])
const ways = { mask: (text: string) => masker.mask(text), stream: () => masker.stream() }

/** How often the event loop turned until the work was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let timer = setImmediate(function count() {
    turns++
    timer = setImmediate(count)
  })
  await work
  clearImmediate(timer)
  return turns
}

test('masks a long text in pieces as a whole, wherever a secret stands', async () => {
  for (const place of [0, turnWeight - 10, turnWeight, 2 * turnWeight - 1]) {
    const text = `${'x'.repeat(place)} ${secret} ${'y'.repeat(2 * turnWeight)}`
    assert.is(await maskTextInTurns(text, ways), masker.mask(text))
  }
  assert.ok((await turnsDuring(maskTextInTurns('x'.repeat(5 * turnWeight), ways))) >= 4)
})

test('masks light and heavy members alike, and their names', async () => {
  const heavy = `${'x'.repeat(turnWeight)}${secret}`
  const values = [
    { a: secret, b: [heavy, secret, 7, null, { [secret]: heavy }], [secret]: true },
    Array.from({ length: 30_000 }, (_, index) => (index % 100 === 0 ? secret : `text ${index}`)),
    Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`k${index}`, { v: index === 9 ? secret : index }]),
    ),
    { __proto__: null, ...Object.fromEntries([['__proto__', heavy]]) },
  ]
  for (const value of values) assert.equal(await maskJsonInTurns(value, ways), maskJson(value, ways.mask))
})

test('lets others have turns between many light values too', async () => {
  const value = Array.from({ length: 50_000 }, (_, index) => `text ${index}`)
  assert.ok((await turnsDuring(maskJsonInTurns(value, ways))) >= 4)
})

test('masks no more in one turn than its weight, also in the turns after the first', async () => {
  const maskedIn: number[] = [0]
  let timer = setImmediate(function count() {
    maskedIn.push(0)
    timer = setImmediate(count)
  })
  const mask = (text: string): string => {
    maskedIn.push((maskedIn.pop() ?? 0) + text.length)
    return text
  }
  await maskedTexts(Array.from({ length: 8 }, (_, index) => `${index}${'x'.repeat(turnWeight / 2)}`), { ...ways, mask })
  clearImmediate(timer)
  assert.equal(maskedIn.filter((chars) => chars > 0), Array(8).fill(turnWeight / 2 + 1))
})

test('weighs values too, and no further than it must', () => {
  assert.is(weightOf('abc'), 103)
  assert.ok(weightOf(Array(20_000).fill(0)) > turnWeight)
  assert.ok(weightOf({ a: 'x'.repeat(turnWeight - 500) }) < turnWeight)
})

test.run()
