import { setImmediate as nextTurn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { Departure } from '../../src/ws/departure.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/departure')

const frames = ['one', 'two', 'three'].map((text) => Buffer.from(text))

test('lets all that were added in a turn write at its end, in order, and later ones in the next', async () => {
  const departure = new Departure()
  const written: string[] = []
  departure.add({
    depart() {
      written.push('first')
      departure.add({ depart: () => void written.push('third') })
    },
  })
  departure.add({ depart: () => void written.push('second') })
  assert.equal(written, [])
  await nextTurn()
  assert.equal(written, ['first', 'second'])
  await nextTurn()
  assert.equal(written, ['first', 'second', 'third'])
})

test('joins the same frames once for all who send them in a turn', async () => {
  const departure = new Departure()
  const joined: Buffer[] = []
  for (const sent of [frames, [...frames], frames.slice(1), frames]) {
    departure.add({ depart: () => void joined.push(departure.join(sent)) })
  }
  await nextTurn()
  const [first, second, shorter, again] = joined
  assert.equal(joined.map(String), ['onetwothree', 'onetwothree', 'twothree', 'onetwothree'])
  assert.is(second, first)
  assert.is.not(shorter, first)
  assert.is.not(again, first)
})

test('tells frames apart by what they are, not by what is in them', async () => {
  const departure = new Departure()
  const joined: Buffer[] = []
  const other = frames.map((frame) => Buffer.from(frame))
  for (const sent of [frames, other]) departure.add({ depart: () => void joined.push(departure.join(sent)) })
  await nextTurn()
  assert.is.not(joined[0], joined[1])
})

test('keeps nothing when all have written', async () => {
  const departure = new Departure()
  const joined: Buffer[] = []
  departure.add({ depart: () => void joined.push(departure.join(frames)) })
  await nextTurn()
  assert.is.not(departure.join(frames), joined[0])
  assert.is.not(departure.join(frames), departure.join(frames))
})

test.run()
