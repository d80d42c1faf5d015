import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { Confirmations, type PendingConfirmation } from '../../../src/conversation/run/confirmations.ts'

const test = suite('conversation/run/confirmations')
const draft = { toolCallId: 'call-1', title: 'Run ls', options: [{ id: 'yes', name: 'Yes', kind: 'allow_once' }] }

function setUp(deadlineMs = 60_000): { questions: Confirmations; changes: (readonly PendingConfirmation[])[] } {
  const changes: (readonly PendingConfirmation[])[] = []
  const clock = (): number => Date.parse('2026-11-21T12:00:00.000Z')
  return { questions: new Confirmations({ clock, deadlineMs, onChange: (open) => changes.push(open) }), changes }
}

const signal = (): AbortSignal => new AbortController().signal

test('lists an open question with its deadline', async () => {
  const { questions, changes } = setUp()
  const asked = questions.ask(draft, signal())
  const [shown] = questions.list()
  assert.is(shown?.tool_call_id, 'call-1')
  assert.is(shown?.deadline, '2026-11-21T12:01:00.000000Z')
  assert.equal(changes.at(-1), questions.list())
  questions.close()
  assert.equal(await asked, { outcome: 'cancelled' })
})

test('asks one at a time and in order, and an answer without an id answers the one that is open', async () => {
  const { questions, changes } = setUp()
  const first = questions.ask({ ...draft, toolCallId: 'one' }, signal())
  const second = questions.ask({ ...draft, toolCallId: 'two' }, signal())
  const open = (): string[] => questions.list().map(({ tool_call_id }) => tool_call_id)
  assert.equal(open(), ['one'])
  assert.ok(questions.answer({ outcome: 'accepted' }))
  assert.equal(await first, { outcome: 'accepted' })
  assert.equal(open(), ['two'])
  assert.ok(questions.answer({ outcome: 'denied', reason: 'no' }))
  assert.equal(await second, { outcome: 'denied', reason: 'no' })
  assert.equal(changes.map((list) => list.map(({ tool_call_id }) => tool_call_id)), [['one'], ['two'], []])
})

test('a question ends once, also when the end of one before stops the turn', async () => {
  const stop = new AbortController()
  const changes: number[] = []
  const questions = new Confirmations({
    clock: Date.now,
    deadlineMs: 60_000,
    onChange: (open) => {
      changes.push(open.length)
      if (changes.length === 2) stop.abort()
    },
  })
  const both = Promise.all([questions.ask(draft, signal()), questions.ask(draft, stop.signal)])
  questions.answer({ outcome: 'accepted' })
  assert.equal(await both, [{ outcome: 'accepted' }, { outcome: 'cancelled' }])
  assert.equal(changes, [1, 1, 0])
})

test('an answer with an id answers that one, if it is open', async () => {
  const { questions } = setUp()
  const first = questions.ask(draft, signal())
  const [shown] = questions.list()
  const second = questions.ask(draft, signal())
  assert.ok(questions.answer({ outcome: 'denied', reason: 'no' }, shown?.id))
  assert.equal(await first, { outcome: 'denied', reason: 'no' })
  assert.not.ok(questions.answer({ outcome: 'accepted' }, shown?.id), 'it has ended')
  assert.is(questions.list().length, 1)
  questions.close()
  assert.equal(await second, { outcome: 'cancelled' })
})

test('begins the deadline of a question when it opens', async () => {
  const changes: (readonly PendingConfirmation[])[] = []
  let now = Date.parse('2026-11-21T12:00:00.000Z')
  const questions = new Confirmations({ clock: () => now, deadlineMs: 60_000, onChange: (open) => changes.push(open) })
  void questions.ask(draft, signal())
  void questions.ask(draft, signal())
  now += 30_000
  questions.answer({ outcome: 'accepted' })
  assert.is(questions.list()[0]?.deadline, '2026-11-21T12:01:30.000000Z')
  questions.close()
})

test('opens none of those that wait when the turn ends', async () => {
  const { questions, changes } = setUp()
  const controller = new AbortController()
  const asked = [1, 2, 3].map(() => questions.ask(draft, controller.signal))
  controller.abort()
  assert.equal(await Promise.all(asked), asked.map(() => ({ outcome: 'cancelled' })))
  assert.equal(changes.map((list) => list.length), [1, 0])
})

test(
  'a question that is withdrawn makes room for the next one, and one that waits leaves the queue unseen',
  async () => {
    const { questions, changes } = setUp()
    const turn = new AbortController()
    const givenUp = [new AbortController(), new AbortController(), new AbortController()] as const
    const asked = givenUp.map((one, index) => {
      return questions.ask({ ...draft, toolCallId: `call-${index}` }, turn.signal, one.signal)
    })
    const shown = (): string[][] => changes.map((list) => list.map(({ tool_call_id }) => tool_call_id))
    givenUp[1].abort()
    assert.equal(shown(), [['call-0']])
    givenUp[0].abort()
    assert.equal(shown(), [['call-0'], ['call-2']])
    assert.ok(questions.answer({ outcome: 'accepted' }))
    assert.equal(await Promise.all(asked), [
      { outcome: 'cancelled' }, { outcome: 'cancelled' }, { outcome: 'accepted' },
    ])
    givenUp[2].abort()
    turn.abort()
    assert.equal(shown(), [['call-0'], ['call-2'], []])
    assert.equal(await questions.ask(draft, signal(), givenUp[0].signal), { outcome: 'cancelled' })
  },
)

test('shows the command, the diff and the places of what would be done', () => {
  const { questions } = setUp()
  const diff = { path: '/a', old_text: null, new_text: 'x', more: 0 }
  void questions.ask({ ...draft, actionId: 'e1', command: 'ls', diff, locations: [{ path: '/a', line: 3 }] }, signal())
  const [{ id: _, ...shown } = {}] = questions.list()
  assert.equal(shown, {
    tool_call_id: 'call-1',
    action_id: 'e1',
    title: 'Run ls',
    command: 'ls',
    diff,
    locations: [{ path: '/a', line: 3 }],
    options: draft.options,
    deadline: '2026-11-21T12:01:00.000000Z',
  })
  questions.close()
})

test('nothing open is not answered', () => {
  const { questions } = setUp()
  assert.not.ok(questions.answer({ outcome: 'accepted' }))
  assert.not.ok(questions.answer({ outcome: 'accepted' }, 'unknown'))
})

test('denies at the deadline', async () => {
  const { questions } = setUp(1)
  const answer = await questions.ask(draft, signal())
  assert.is(answer.outcome, 'denied')
  assert.equal(questions.list(), [])
})

test('cancels when its turn is stopped, also when that was before', async () => {
  const { questions } = setUp()
  const controller = new AbortController()
  const asked = questions.ask(draft, controller.signal)
  controller.abort()
  assert.equal(await asked, { outcome: 'cancelled' })
  assert.equal(await questions.ask(draft, controller.signal), { outcome: 'cancelled' })
})

test.run()
