/** The built program, killed while a sub-agent works or asks, and started again on its folder. */
import * as assert from 'uvu/assert'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { outline, talkTo, type JsonEvent } from '../../e2e/talk.ts'
import { until } from '../../support/processes.ts'
import { listAt, textAt } from '../../support/rest.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { childrenOf, childrenWhen, modelOf, realPace, talkWith, task, terminal } from './delegation.ts'

const test = suite('subagents/kills', 90_000)

/** Each action has exactly one answer. */
function assertSound(events: readonly JsonEvent[]): void {
  for (const { kind, tool_call_id: id } of events) {
    if (kind !== 'ActionEvent') continue
    const answers = events.filter((event) => event['tool_call_id'] === id && event['kind'] !== 'ActionEvent')
    assert.is(answers.length, 1)
  }
}

test('after a kill both histories are sound, and the call is recorded as interrupted', withPrograms(async (start) => {
  const model = await modelOf({
    delegate: [task('wait'), { text: 'Over.' }], wait: [terminal('echo begun > begun; sleep 300')],
  }, realPace)
  const program = await start()
  const talk = await talkWith(program, model)
  await talk.send('delegate')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  await until(() => existsSync(join(dir, 'begun')))
  const [child] = await childrenOf(program, talk)
  await program.stop('SIGKILL')
  const again = await start()
  for (const id of [talk.id, child?.id ?? '']) {
    const after = talkTo(again, id)
    const events = await after.events()
    assertSound(events)
    assert.equal(outline(events).slice(-3), ['AgentErrorEvent', 'error ServerRestarted', 'error'])
    const error = events.find(({ kind }) => kind === 'AgentErrorEvent')
    assert.match(textAt(error, 'error'), 'The result is unknown: a restart occurred')
  }
  assert.equal((await childrenOf(again, talkTo(again, talk.id))).map(({ id }) => id), [child?.id])
  // The parent can go on. The model is told of the error, and its script ends the turn.
  const resumed = talkTo(again, talk.id)
  await resumed.runAgain()
  await resumed.reaches('finished')
  assertSound(await resumed.events())
  assert.is(await again.stop('SIGTERM'), 0)
  await model.close()
}))

test('after a kill while a sub-agent asks, no question of the parent is left open', withPrograms(async (start) => {
  const model = await modelOf({ delegate: [task('write'), { text: 'Over.' }], write: [terminal('touch asked')] })
  const program = await start()
  const talk = await talkWith(program, model, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('delegate')
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  const [child] = await childrenWhen(program, talk, 1)
  await until(async () => listAt((await talk.get('/confirmations')).json, 'items').length === 1 &&
    await child?.status() === 'waiting_for_confirmation')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  await program.stop('SIGKILL')
  const again = await start()
  const after = talkTo(again, talk.id)
  assert.equal((await after.get('/confirmations')).json, { items: [] })
  assert.is(await after.status(), 'error')
  assertSound(await after.events())
  // The action of the sub-agent waits in its own conversation, where the user can still answer.
  const below = talkTo(again, child?.id ?? '')
  assert.is(await below.status(), 'waiting_for_confirmation')
  assert.not(existsSync(join(dir, 'asked')))
  await below.post('/events/respond_to_confirmation', { accept: false })
  assert.is(await again.stop('SIGTERM'), 0)
  await model.close()
}))

test.run()
