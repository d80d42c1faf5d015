/**
 * Real exchanges of eight agents, recorded, become exactly these events.
 *
 * The expected lists in test/fixtures/acp-expected are stored for ever once an agent has run, so a change there is a
 * change of the format: read it before it is accepted. In the transcripts the lists of available commands, which take
 * most of the room and matter to nothing here, are emptied.
 */
import { readdirSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { isEvent } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'
import { expected, replay } from './replay.ts'

const test = suite('acp transcripts')
const folder = new URL('../../../../test/fixtures/acp-transcripts/', import.meta.url)

for (const file of readdirSync(folder)) {
  const name = file.replace('.jsonl', '')

  test(`${name}: maps to the expected events`, () => {
    assert.equal(JSON.parse(JSON.stringify(replay(name))), expected(name))
  })

  test(`${name}: every event is valid`, () => {
    for (const draft of replay(name).flat()) {
      const event: unknown = { ...draft, timestamp: '2026-11-21T09:30:00.123456Z' }
      assert.ok(isEvent(event), JSON.stringify(event))
    }
  })

  test(`${name}: every action has exactly one answer, after it`, () => {
    const open = new Set<string>()
    for (const event of replay(name).flat()) {
      if (!('tool_call_id' in event) || !('kind' in event)) continue
      const id = String(event.tool_call_id)
      if (event.kind === 'ActionEvent') assert.is(open.has(id), false)
      else assert.ok(open.delete(id))
      if (event.kind === 'ActionEvent') open.add(id)
    }
    assert.is(open.size, 0)
  })
}

test.run()
