/**
 * Scenarios about the identity of an agent and of its calls: a program that gives itself another name, and calls from
 * before a restart.
 *
 * Decisions 3 and 24: the provider that the settings chose decides the questions, not the name that the agent gives
 * itself; one id of a call has one action in the life of a conversation.
 */
import { fileURLToPath } from 'node:url'
import { check, checkThat, type Check } from './checks.ts'
import { errorCodes, ofKind } from './history.ts'
import { memberAt } from './member.ts'
import { goesOn } from './next-message.ts'
import type { Scene } from './scene.ts'
import { readNote, task } from './task.ts'

const wrapper = fileURLToPath(new URL('./renaming-wrapper.js', import.meta.url))

export async function renamed(scene: Scene): Promise<Check[]> {
  const { agent, program } = scene.stage
  const talk = await scene.open({ settings: { acp_command: [process.execPath, wrapper, ...program, ...agent.args] } })
  scene.stage.say(task.prompt, [
    { text: task.text, toolCall: agent.runCommand('touch asked.txt', false) }, { text: task.finalText },
  ])
  await talk.send(task.prompt)
  const first = await talk.untilEnd()
  const before = await readNote(scene, 'asked.txt')
  const events = await talk.events()
  const ranUnasked = first !== 'waiting_for_confirmation' && before !== 'no file'
  if (first === 'waiting_for_confirmation') await talk.answer(false)
  return [
    checkThat('nothing runs unasked', !ranUnasked, { first, before, errors: errorCodes(events) }),
    ...(first === 'waiting_for_confirmation'
      ? [check('the run has ended', (await talk.settle(false)).status, 'finished')]
      : []),
  ]
}

export async function resumedCall(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ toolCall: agent.runCommand(task.command) }, { text: task.finalText }])
  await talk.send(task.prompt)
  const { status } = await talk.settle(true)
  const before = ofKind(await talk.events(), 'ActionEvent').map((event) => memberAt(event, 'tool_call_id'))
  await scene.stage.restart()
  const again = await scene.reopen()
  const checks = await goesOn(scene, again)
  const after = ofKind(await again.events(), 'ActionEvent').map((event) => memberAt(event, 'tool_call_id'))
  return [
    check('the run has finished', status, 'finished'), ...checks, check('no call has another action', after, before),
  ]
}
