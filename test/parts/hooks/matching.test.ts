/** Which hooks are for which tool. */
import * as assert from 'uvu/assert'
import { createMatching } from '../../../src/parts/hooks/matching.ts'
import { silentLog } from '../../../src/base/log.ts'
import { failureOf } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/hooks/matching')
const { signal } = new AbortController()

const rows: readonly (readonly [matcher: string, tool: string | null, matches: boolean])[] = [
  ['*', 'terminal', true],
  ['', 'terminal', true],
  ['*', null, true],
  ['terminal', 'terminal', true],
  ['terminal', 'Terminal', false],
  ['terminal', 'terminals', false],
  ['terminal', null, false],
  ['terminal|grep', 'grep', true],
  ['terminal|grep', 'egrep', false],
  ['/file_editor/', 'file_editor', true],
  ['/file/', 'file_editor', false],
  ['/^file/', 'file_editor', false],
  ['file_.*', 'file_editor', true],
  ['file_.*', null, false],
  ['[', 'terminal', true],
]
for (const [matcher, tool, matches] of rows) {
  test(
    `${JSON.stringify(matcher)} ${matches ? 'matches' : 'does not match'} ${tool ?? 'a point without a tool'}`,
    async () => {
      assert.is(await createMatching(silentLog)(matcher, tool, signal), matches)
    },
  )
}

test('an expression that takes for ever costs its thread once, is told, and counts as a match', async () => {
  const told: string[] = []
  const matches = createMatching({
    ...silentLog, warn: (message, fields) => told.push(`${message}: ${fields?.['error']}`),
  })
  const tool = `${'a'.repeat(60)}!`
  assert.is(await matches('(a+)+', tool, signal), true)
  assert.is(await matches('(a+)+', tool, signal), true)
  assert.is(told.length, 1)
  assert.match(told[0] ?? '', /hook is run: .* takes too long/)
  assert.is(await matches('(a+)+', 'b', signal), false)
})

test('a stop ends the trying', async () => {
  const stop = new AbortController()
  const failure = failureOf(createMatching(silentLog)('(a+)+', `${'a'.repeat(60)}!`, stop.signal))
  stop.abort(new Error('stopped'))
  assert.is(await failure, 'stopped')
})

test.run()
