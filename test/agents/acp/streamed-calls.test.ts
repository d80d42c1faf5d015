/**
 * Inputs that are streamed at a real pace: every action has all of the command that is asked about or runs, with any
 * updates between the pieces. For any order and cutting of them see any-order.
 */
import * as assert from 'uvu/assert'
import { memberAt } from '../../../src/base/fields.ts'
import {
  questionFor, streamed, type Manner, type StreamedCall, type TimedUpdate,
} from '../../fixtures/streamed-calls.ts'
import { suite } from '../../support/suite.ts'
import { json, watch, type Watched } from './watched-turn.ts'

const test = suite('acp streamed calls')

const removal: StreamedCall = {
  id: 'remove',
  kind: 'execute',
  input: {
    command: 'rm -rf "/home/a b/tmp" && echo \\"gone\\" \u2028 done', description: 'Remove what is left of the build',
  },
}
const text = Array.from({ length: 12 }, (_, line) => `line ${line} says "hello\\" to\tall\n`).join('')
const file: StreamedCall = {
  id: 'write',
  kind: 'edit',
  input: { file_path: '/project/note.txt', content: text },
  diff: { path: '/project/note.txt', oldText: null, newText: text },
}
const manners: readonly Manner[] = ['members', 'at-once', 'growing-text', 'growing-members']

/** Plays updates of several calls at their times. */
function play(turn: Watched, updates: readonly TimedUpdate[]): void {
  for (const { atMs, update } of [...updates].sort((a, b) => a.atMs - b.atMs)) {
    turn.timers.advanceTo(atMs)
    turn.events.update(update)
    noise(turn)
  }
}

/** Empty chunks, figures and plans come between the pieces (Qwen, Claude). */
function noise(turn: Watched): void {
  turn.text('')
  turn.events.update({ sessionUpdate: 'usage_update', used: 1 })
}

for (const manner of manners) {
  for (const pace of [20, 80, 400]) {
    test(`${manner} at ${pace} tokens/s: the action that stands before an answer has the command and the diff`, () => {
      const turn = watch()
      play(turn, [...streamed(removal, manner, pace), ...streamed(file, manner, pace)])
      for (const call of [removal, file]) assertOnRecord(turn, call)
      turn.events.close('over')
      assert.is(turn.timers.waiting, 0)
    })

    test(`${manner} at ${pace} tokens/s: what runs unasked is recorded once, whole`, () => {
      const turn = watch()
      play(turn, [...streamed(removal, manner, pace), ...streamed(file, manner, pace)])
      for (const { id } of [removal, file]) turn.call({ toolCallId: id, status: 'completed', rawOutput: 'done' })
      assert.equal(turn.kinds().sort(), ['ActionEvent', 'ActionEvent', 'ObservationEvent', 'ObservationEvent'])
      assert.ok(turn.drafts.some((draft) => memberAt(draft, 'action', 'command') === removal.input['command']))
      assert.ok(turn.drafts.some((draft) => memberAt(draft, 'action', 'file_text') === text))
    })
  }
}

/** Asks, and looks at the action that the question names. */
function assertOnRecord(turn: Watched, call: StreamedCall): void {
  const [asked] = turn.events.asks(questionFor(call))
  const action = turn.drafts[Number(asked?.event.id.slice(1)) - 1]
  const what = json(action)
  assert.is(memberAt(action, 'tool_call_id'), asked?.id, what)
  if (call.kind === 'execute') assert.is(memberAt(action, 'action', 'command'), call.input['command'], what)
  else assert.is(memberAt(action, 'action', 'file_text'), call.diff?.newText, what)
  turn.events.allowed(asked?.id ?? '')
}

test.run()
