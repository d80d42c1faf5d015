/**
 * Turns in which the model's API refuses, or cannot be reached.
 *
 * The agent may tell of the failure or go on trying: the time limit of the conversation ends it then. Either way the
 * conversation names the failure and can be used again.
 */
import { check, type Check } from './checks.ts'
import { errorCodes, lastText } from './history.ts'
import { memberAt } from './member.ts'
import { goesOn } from './next-message.ts'
import type { Scenario, Scene } from './scene.ts'
import { deleteSecret, putSecret } from './stage.ts'
import type { Talk } from './talk.ts'
import { task } from './task.ts'

export async function withoutCredential(scene: Scene): Promise<Check[]> {
  const { agent, server } = scene.stage
  const { secrets } = scene.stage
  // The address too: a gateway may need no key.
  for (const name of Object.keys(secrets)) await deleteSecret(server(), name)
  scene.stage.say('Who are you?', [{ text: 'The model.' }])
  const { talk, status, errors, missing } = await askInVain(scene).finally(async () => {
    for (const [name, value] of Object.entries(secrets)) await putSecret(server(), name, value)
  })
  await talk.call('POST', '/run')
  const after = await talk.settle(true)
  return [
    check('without a key the run fails', status, 'error'),
    check('and says that a login is required', errors, ['ACPAuthRequired']),
    check('and the state, which key', missing, agent.keyVariable),
    check('with the key it works', after.status, 'finished'),
    check('and the message was not lost', lastText(await talk.events()), 'The model.'),
    check('the model was asked with the key', [...new Set(scene.requests.map((request) => request.apiKey))], [
      secrets[agent.keyVariable],
    ]),
  ]
}

async function askInVain(scene: Scene): Promise<{ talk: Talk; status: unknown; errors: unknown[]; missing: unknown }> {
  const talk = await scene.open()
  await talk.send('Who are you?')
  const { status } = await talk.settle(true)
  const errors = errorCodes(await talk.events())
  const missing = memberAt(await talk.call('GET', ''), 'agent_state', 'acp_auth_required', 'api_key_variable')
  return { talk, status, errors, missing }
}

export function failing(failure: 400 | 401 | 429 | 500): Scenario['run'] {
  return async (scene) => {
    const talk = await scene.open({ settings: { acp_prompt_timeout: 20 }, secrets: scene.stage.agent.impatience })
    scene.stage.say(task.prompt, [{ failure, text: 'The script says so' }])
    await talk.send(task.prompt)
    const { status } = await talk.settle(true)
    const errors = errorCodes(await talk.events())
    const code = failure === 401 ? 'ACPAuthRequired' : 'ACPPromptError'
    return [
      check('the run has failed', status, 'error'),
      check('the history says so', errors, [code]),
      ...(await goesOn(scene, talk)),
    ]
  }
}
