/** Checks the state after every scenario: the turn is over, and another message is served. */
import { check, checkThat, type Check } from './checks.ts'
import { lastText, notes, withoutStates } from './history.ts'
import { memberAt } from './member.ts'
import type { Scene } from './scene.ts'
import type { Talk } from './talk.ts'
import { task } from './task.ts'

const next = 'Are you still there?'

/** Sends another message. It is answered, and nothing came between. */
export async function goesOn(scene: Scene, talk: Talk): Promise<Check[]> {
  const before = await talk.events()
  scene.stage.say(next, [{ text: 'Still here.' }])
  await talk.send(next)
  const { status } = await talk.settle(true)
  const events = await talk.events()
  const asked = events.findLastIndex((event) => {
    return memberAt(event, 'kind') === 'MessageEvent' && memberAt(event, 'source') === 'user'
  })
  return [
    check('nothing came after the end of the turn', withoutStates(events.slice(before.length, asked)), []),
    check('another message is served', status, 'finished'),
    check('and answered', lastText(events), 'Still here.'),
  ]
}

/** The model is shown the first message again: from the agent's own memory, or from the record that it is given. */
export async function checkMemory(scene: Scene, talk: Talk): Promise<Check> {
  return checkThat('the model knows what was said before', remembers(scene), notes(await talk.events()))
}

/** After its program is gone an agent resumes its session, or the user is told that it has lost it. */
export async function checkResumed(scene: Scene, talk: Talk): Promise<Check> {
  const { resumes } = scene.stage.agent
  const seen = [remembers(scene), saysItForgot(notes(await talk.events()))]
  return check('the model knows what was said before, and a lost session is told of', seen, [true, !resumes])
}

function remembers(scene: Scene): boolean {
  return scene.requests
    .map(({ body }) => JSON.stringify(body ?? null))
    .some((body) => body.includes(next) && body.includes(task.prompt))
}

function saysItForgot(said: readonly string[]): boolean {
  return said.some((note) => note.includes('does not remember'))
}
