/**
 * The calls of one answer on their way into the history: each is masked in a turn of its own, and nothing comes between
 * them.
 */
import * as assert from 'uvu/assert'
import { recordCalls } from '../../../src/parts/builtin/recorded-calls.ts'
import type { BadCall } from '../../../src/parts/builtin/calls/tool-calls.ts'
import { suite } from '../../support/suite.ts'
import { turnsDuring } from '../../support/turns.ts'
import { memoryHost } from '../../agents/acp/memory-host.ts'

const test = suite('builtin/recorded-calls')

test('every call is masked in a turn of its own, and all are recorded in one', async () => {
  const host = memoryHost('/')
  const turn = host.turn('go')
  const count = 20
  const calls = Array.from({ length: count }, (_, index): BadCall => ({
    ok: false, call: { id: `c${index}`, name: 'none', arguments: '{}', origin: 'completion' },
    error: 'There is no such tool',
  }))
  const origin = {
    responseId: 'r',
    critique: () => ({}),
    waits: false,
    message: { role: 'assistant', content: [], thinking_blocks: [] },
  } as const
  const cipher = { seal: (text: string) => text, open: (text: string) => text }
  const recording = recordCalls(calls, origin, { turn, host, cipher })
  const before: number[] = []
  const watching = setInterval(() => before.push(host.events.length))
  const turns = await turnsDuring(recording)
  clearInterval(watching)
  assert.ok(turns >= count - 1, `${turns} turns`)
  assert.equal(before.filter((recorded) => recorded > 0 && recorded < 2 * count), [])
  assert.is(host.events.length, 2 * count)
})

test.run()
