/**
 * Commands that nobody is asked about while the policy asks: commands that an agent's asking mode runs anyhow, and
 * commands of an agent whose own configuration asks for nothing.
 */
import { check, checkThat, type Check } from './checks.ts'
import { ofKind } from './history.ts'
import { memberAt } from './member.ts'
import { goesOn } from './next-message.ts'
import type { Scene } from './scene.ts'

/** Reading is allowed where the agent asks, marked where it does not, and stops nobody. */
export async function looksAround(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const prompt = 'Look around.'
  const commands = ['ls', 'cat nothing 2>/dev/null; pwd', 'git status | head -3']
  scene.stage.say(prompt, [
    ...commands.map((command) => ({ toolCall: agent.runCommand(command, false) })), { text: 'I have seen it.' },
  ])
  const talk = await scene.open()
  await talk.send(prompt)
  const { status } = await talk.settle(true)
  const unasked = memberAt(await talk.call('GET', ''), 'agent_state', 'acp_unasked')
  return [
    check('the run has finished', status, 'finished'),
    checkThat('no command should have been asked about', memberAt(unasked, 'last', 'verdict') !== 'unasked', unasked),
  ]
}

/** opencode, with rules of a user's own. */
export async function actsUnasked(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const prompt = 'Make a file.'
  scene.stage.say(prompt, [
    { toolCall: agent.runCommand('touch made') }, { toolCall: agent.runCommand('touch made-too') },
  ])
  const talk = await scene.open({ secrets: { OPENCODE_PERMISSION: '{"*":"allow"}' } })
  await talk.send(prompt)
  const { status, questions } = await talk.settle(true)
  const [failure] = ofKind(await talk.events(), 'ConversationErrorEvent')
  const unasked = memberAt(await talk.call('GET', ''), 'agent_state', 'acp_unasked')
  return [
    check('nobody was asked', questions, 0),
    check('the run was stopped', status, 'error'),
    check('for that reason', memberAt(failure, 'code'), 'UnaskedAction'),
    checkThat('which names the command', String(memberAt(failure, 'detail')).includes('touch made'), failure),
    check('the state marks it', memberAt(unasked, 'last', 'verdict'), 'unasked'),
    ...(await goesOn(scene, talk)),
  ]
}
