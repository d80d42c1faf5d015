/** The meaning of the end of a hook's command. */
import * as assert from 'uvu/assert'
import { readAnswer, type HookAnswer } from '../../../src/parts/hooks/answer.ts'
import type { CommandEnd } from '../../../src/parts/hooks/command.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/hooks/answer')
const mask = (text: string): string => text.replaceAll('SECRET', '*')

function exited(exitCode: number, stdout = '', stderr = ''): CommandEnd {
  return { end: 'exited', exitCode, stdout, stderr }
}

const passed: HookAnswer = { type: 'passed', context: undefined }
const blocked = (reason: string): HookAnswer => ({ type: 'blocked', reason })

const rows: readonly (readonly [name: string, end: CommandEnd, answer: HookAnswer])[] = [
  ['0 passes', exited(0), passed],
  ['0 with words passes', exited(0, 'all is well', 'warning'), passed],
  ['0 with JSON that is no object passes', exited(0, '[1]'), passed],
  ['0 with JSON that is too deep passes', exited(0, '['.repeat(1000) + ']'.repeat(1000)), passed],
  ['0 with allow passes', exited(0, '{"decision":"allow","reason":"fine"}'), passed],
  ['0 with a context gives it', exited(0, '{"additionalContext":"it is late"}\n'),
    { type: 'passed', context: 'it is late' }],
  ['0 with an empty context gives none', exited(0, '{"additionalContext":" "}'), passed],
  ['0 with deny blocks', exited(0, '{"decision":"deny","reason":"not now"}'), blocked('not now')],
  ['0 with continue false blocks', exited(0, '{"continue":false}'), blocked('Blocked by hook')],
  ['0 with continue true passes', exited(0, '{"continue":true}'), passed],
  ['2 blocks with the end of stderr', exited(2, '', 'not allowed\n'), blocked('not allowed')],
  ['2 blocks with the reason of its JSON', exited(2, '{"reason":"no"}', 'other'), blocked('no')],
  ['2 blocks without any word', exited(2), blocked('Blocked by hook')],
  ['2 blocks whatever the decision says', exited(2, '{"decision":"allow"}'), blocked('Blocked by hook')],
  ['1 is a failure', exited(1, '{"decision":"deny"}'), { type: 'failed', problem: 'it ended with exit code 1' }],
  ['a command that did not end is a failure', { end: 'failed', problem: 'late' }, { type: 'failed', problem: 'late' }],
  ['a reason is masked', exited(2, '', 'no SECRET here'), blocked('no * here')],
  ['a context is masked', exited(0, '{"additionalContext":"a SECRET"}'), { type: 'passed', context: 'a *' }],
]
for (const [name, end, answer] of rows) {
  test(`exit code ${name}`, () => assert.equal(readAnswer(end, mask), answer))
}

test('texts are cut after they are masked', () => {
  const long = `${'x'.repeat(9998)}SECRET and more`
  assert.equal(readAnswer(exited(0, JSON.stringify({ additionalContext: long })), mask), {
    type: 'passed', context: `${'x'.repeat(9998)}* `,
  })
  assert.equal(readAnswer(exited(2, '', `before SECRET${'x'.repeat(9999)}`), mask), blocked(`*${'x'.repeat(9999)}`))
})

test.run()
