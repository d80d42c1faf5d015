/**
 * Inputs that are streamed at a real pace: no action says less than what is asked about or runs, whatever lies between the
 * pieces, wherever they are cut and in whatever order several calls grow.
 */
import * as assert from 'uvu/assert'
import { questionOf } from '../../../src/agents/acp/question.ts'
import { memberAt, objectOf } from '../../../src/base/fields.ts'
import { questionFor, streamed, type Manner, type StreamedCall, type TimedUpdate } from '../../fixtures/streamed-calls.ts'
import { suite } from '../../support/suite.ts'
import { json, watch, type Watched } from './watched-turn.ts'

const test = suite('acp streamed calls', 60_000)

const removal: StreamedCall = {
  id: 'remove',
  kind: 'execute',
  input: { command: 'rm -rf "/home/a b/tmp" && echo \\"gone\\" \u2028 done', description: 'Remove what is left of the build' },
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
function play(turn: Watched, updates: readonly TimedUpdate[], between: (turn: Watched) => void = () => undefined): void {
  for (const { atMs, update } of [...updates].sort((a, b) => a.atMs - b.atMs)) {
    turn.timers.advanceTo(atMs)
    turn.events.update(update)
    between(turn)
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
      play(turn, [...streamed(removal, manner, pace), ...streamed(file, manner, pace)], noise)
      for (const call of [removal, file]) assertOnRecord(turn, call)
      turn.events.close('over')
      assert.is(turn.timers.waiting, 0)
    })

    test(`${manner} at ${pace} tokens/s: what runs unasked is recorded once, whole`, () => {
      const turn = watch()
      play(turn, [...streamed(removal, manner, pace), ...streamed(file, manner, pace)], noise)
      for (const { id } of [removal, file]) turn.call({ toolCallId: id, status: 'completed', rawOutput: 'done' })
      assert.equal(turn.kinds().sort(), ['ActionEvent', 'ActionEvent', 'ObservationEvent', 'ObservationEvent'])
      assert.ok(turn.drafts.some((draft) => memberAt(draft, 'action', 'command') === removal.input.command))
      assert.ok(turn.drafts.some((draft) => memberAt(draft, 'action', 'file_text') === text))
    })
  }
}

test('for any order and cutting of updates, an action has the command or the diff before its question is answered', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomFrom(seed)
    const calls = Array.from({ length: 1 + random(4) }, (_, index) => anyCall(index, random))
    const turn = watch()
    const updates = calls.flatMap((call) => {
      const start = random(3000)
      return streamed(call, manners[random(4)] ?? 'members', 5 + random(400), 1 + random(40))
        .filter(() => random(10) > 0)
        .map(({ atMs, update }) => ({ update, atMs: start + atMs + random(3) * random(4000) }))
    })
    const asked = new Set<string>()
    play(turn, updates, () => {
      if (random(4) === 0) noise(turn)
      if (random(6) === 0) turn.thought('hm')
      if (random(40) === 0) askBarely(turn, seed)
      const call = calls[random(calls.length * 12)]
      if (call === undefined || asked.has(call.id)) return
      asked.add(call.id)
      assertOnRecord(turn, call, seed)
      if (random(3) === 0) turn.events.rejects(call.id, 'no')
    })
    for (const call of calls) if (!asked.has(call.id)) assertOnRecord(turn, call, seed)
    turn.events.close('over')
    assertPaired(turn, seed)
    assert.is(turn.timers.waiting, 0)
  }
})

/** Asks, and looks at the action that the question names. */
function assertOnRecord(turn: Watched, call: StreamedCall, seed = 0): void {
  const [asked] = turn.events.asks(questionFor(call))
  const action = turn.drafts[Number(asked?.event.id.slice(1)) - 1]
  const what = `seed ${seed}: ${json(action)}`
  assert.is(memberAt(action, 'tool_call_id'), asked?.id, what)
  if (call.kind === 'execute') assert.is(memberAt(action, 'action', 'command'), call.input.command, what)
  else assert.is(memberAt(action, 'action', 'file_text'), call.diff?.newText, what)
  turn.events.allowed(asked?.id ?? '')
}

/** Asks as OpenHands does, without a word of what is asked about: every open call is on record with what its question shows. */
function askBarely(turn: Watched, seed: number): void {
  for (const asked of turn.events.asks({ toolCallId: 'confirmation', title: 'Confirm Agent Actions', kind: 'other' })) {
    const action = turn.drafts[Number(asked.event.id.slice(1)) - 1]
    const { command, diff } = questionOf(asked)
    const what = `seed ${seed}: ${json(action)}`
    assert.is(memberAt(action, 'tool_call_id'), asked.id, what)
    if (command !== undefined) assert.is(memberAt(action, 'action', 'command'), command, what)
    if (diff !== undefined) assert.ok(json(action).includes(json(diff.new_text).slice(1, -1)), what)
    turn.events.allowed(asked.id)
  }
}

/** One action for each id, and one answer after it. */
function assertPaired(turn: Watched, seed: number): void {
  const open = new Set<unknown>()
  const seen = new Set<unknown>()
  for (const draft of turn.drafts) {
    const { tool_call_id: id } = objectOf(draft)
    if (id === undefined) continue
    if (draft.kind === 'ActionEvent') {
      assert.not.ok(seen.has(id), `seed ${seed}: two actions`)
      seen.add(id)
      open.add(id)
    } else {
      assert.ok(open.delete(id), `seed ${seed}: an answer without its action`)
    }
  }
  assert.is(open.size, 0)
}

function anyCall(index: number, random: (limit: number) => number): StreamedCall {
  const words = Array.from({ length: 1 + random(60) }, () => ['rm', '-rf ', '"a\\', '\n', '/home', '😀', '\\n'][random(7)]).join('')
  if (random(2) === 0) return { id: `call${index}`, kind: 'execute', input: { command: words, description: 'x' } }
  return {
    id: `call${index}`,
    kind: 'edit',
    input: { file_path: `/project/${index}`, content: words },
    diff: { path: `/project/${index}`, oldText: null, newText: words },
  }
}

/** Numbers below a limit, the same for the same seed (mulberry32). */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

test.run()
