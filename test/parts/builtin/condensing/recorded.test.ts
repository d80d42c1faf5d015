/**
 * A recorded run with three condensations (`test/fixtures/record-condensed-run.ts`) gives the same views, byte for
 * byte.
 */
import * as assert from 'uvu/assert'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { View } from '../../../../src/parts/builtin/view/view.ts'
import { parseJson } from '../../../../src/base/json.ts'
import { storedEvent } from '../../../../src/conversation/log/stored-event.ts'
import type { Event } from '../../../../src/schema/generated/events.ts'
import { member } from '../../../support/rest.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/builtin/condensing/recorded')

const folder = new URL('../../../../../test/fixtures/', import.meta.url)
const views = linesOf('condensed-run.views.jsonl')
const events = linesOf('condensed-run.jsonl').map((line): Event => {
  const event = storedEvent(line)
  if (event === undefined) throw new Error('expected an event')
  return event
})

function linesOf(name: string): unknown[] {
  return readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n').map((line) => parseJson(line))
}

/** The messages in JSON, read in parts of this many events. */
function replay(count: number, partLength = count): string {
  const view = new View()
  for (let from = 0; from < count; from += partLength) {
    const part = events.slice(from, Math.min(count, from + partLength))
    view.add({ isFresh: from === 0, events: part, responses: new Map(), late: new Map() })
  }
  return JSON.stringify(view.messages({ withImages: true }))
}

test('it holds 300 events and three condensations', () => {
  assert.is(events.length, 300)
  assert.is(events.filter(({ kind }) => kind === 'Condensation').length, 3)
})

test('every request of the run is told again with the same bytes', () => {
  const requests = views.slice(0, -1)
  assert.is(requests.length, 60)
  for (const request of requests) {
    const count = Number(member(request, 'events'))
    assert.is(
      createHash('sha256').update(replay(count)).digest('hex'), member(request, 'sha256'), `after ${count} events`,
    )
  }
})

test('the view at the end is the same bytes, in whatever parts the history is read', () => {
  const expected = JSON.stringify(member(views.at(-1), 'view'))
  for (const partLength of [1, 2, 3, 7, 50, 299, 300]) {
    assert.is(replay(300, partLength), expected, `in parts of ${partLength}`)
  }
})

test.run()
