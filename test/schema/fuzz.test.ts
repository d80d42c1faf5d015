/**
 * The fast path and the slow path of validation are two readings of the same definitions: over valid values, and over
 * values with something changed anywhere inside, one accepts exactly when the other finds nothing. A value that both
 * accept has a normal form, which is stable. The seed is printed; set it below to repeat a failure.
 */
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { check } from '../../src/schema/check.ts'
import { isEvent, isPushFrame } from '../../src/schema/generated/events.ts'
import { suite } from '../support/suite.ts'
import { generatedTypes, type GeneratedType } from './generated-code.ts'
import { createRandom, pick, randomOf, type Random } from './samples.ts'

const test = suite('schema fuzz')
const seed = Date.now() % 1_000_000
process.stdout.write(`seed ${seed}\n`)

const valuesPerType = 60
const strange: readonly unknown[] = [
  null, true, false, 0, -1, 1, 0.5, 1e300, Infinity, 2 ** 53, '', 'x', 'text', 'ActionEvent', '\ud800', [], [null],
  [[]], {}, { kind: 'FinishAction' }, { type: 'text', text: 'x' },
  JSON.parse('{"__proto__":null}'), JSON.parse('{"constructor":{}}'),
]
const names: readonly string[] = ['kind', 'type', 'id', 'x', '__proto__', 'constructor', 'text', 'value', 'source']

for (const type of generatedTypes) {
  test(`agrees with itself about ${type.name}`, () => {
    const random = createRandom(seed)
    for (let count = 0; count < valuesPerType; count++) {
      const value = randomOf(type.name, random)
      assert.ok(type.is(value), `seed ${seed}: ${JSON.stringify(value)}`)
      assertAgreement(type, value)
      for (let change = 0; change < 10; change++) assertAgreement(type, mutate(value, random))
    }
  })
}

test.run()

function assertAgreement(type: GeneratedType, value: unknown): void {
  const shown = `seed ${seed}: ${type.name} ${JSON.stringify(value)}`
  const issues = check(type.name, value)
  assert.is(type.is(value), issues.length === 0, shown)
  if (issues.length > 0 || type.to === undefined) return
  const before = JSON.stringify(value)
  const normal = type.to(isEvent(value) || isPushFrame(value) ? { ...value, id: 'e', timestamp: 't' } : value)
  assert.is(JSON.stringify(value), before, `${shown}: the input is not touched`)
  assert.ok(type.is(normal), `${shown}: the normal form is valid`)
  assert.is(JSON.stringify(type.to(normal)), JSON.stringify(normal), `${shown}: the normal form is stable`)
}

/** The same value with one place changed: replaced, taken away, or with a member more. */
function mutate(value: unknown, random: Random): unknown {
  if (random() < 0.25) return pick(random, strange)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    if (items.length === 0) return [pick(random, strange)]
    const place = Math.floor(random() * items.length)
    return items.map((item, index) => (index === place ? mutate(item, random) : item))
  }
  if (!isObject(value)) return pick(random, strange)
  const entries = Object.entries(value)
  const action = random()
  if (action < 0.2 || entries.length === 0) {
    return Object.fromEntries([...entries, [pick(random, names), pick(random, strange)]])
  }
  const place = Math.floor(random() * entries.length)
  if (action < 0.4) return Object.fromEntries(entries.filter((_, index) => index !== place))
  return Object.fromEntries(entries.map(([name, member], index) => {
    return [name, index === place ? mutate(member, random) : member]
  }))
}
