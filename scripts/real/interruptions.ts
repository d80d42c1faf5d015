/**
 * Turns that do not come to their end: stopped by the user, by the death of the agent, by the end of the server.
 *
 * Decisions 14, 16 and 26: after a stop nothing of the turn is left, neither in the history nor in the system.
 */
import { check, type Check } from './checks.ts'
import { errorCodes, withoutStates } from './history.ts'
import { memberAt } from './member.ts'
import { checkMemory, checkResumed, goesOn } from './next-message.ts'
import { markedProcesses, untilMarked } from './processes.ts'
import type { Scene } from './scene.ts'
import type { Talk } from './talk.ts'
import { readNote, task } from './task.ts'

/** Claude refuses to sleep for long. */
const longCommand = 'touch shell-note.txt && tail -f shell-note.txt'

/** Cancels a turn while the agent writes. Gemini itself forgets the message of that turn. */
export async function cancelText(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ thought: task.thought, text: 'And on and on. ', isEndless: true }])
  await talk.send(task.prompt)
  await talk.until('text', (frame) => {
    return memberAt(frame, 'kind') === 'StreamingDeltaEvent' && memberAt(frame, 'content') !== undefined
  })
  return [...(await interrupted(talk)), ...(await goesOn(scene, talk))]
}

export async function cancelTool(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  const process = await runLongCommand(scene, talk)
  const checks = await interrupted(talk)
  return [
    ...checks,
    ...(await isGone(scene, process.command)),
    ...(await goesOn(scene, talk)),
    await checkMemory(scene, talk),
  ]
}

export async function cancelQuestion(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ text: task.text, toolCall: scene.stage.agent.runCommand(task.command) }])
  await talk.send(task.prompt)
  await talk.untilQuestion()
  const checks = await interrupted(talk)
  const ran = check('the command did not run', await readNote(scene, 'shell-note.txt'), 'no file')
  return [...checks, ran, ...(await goesOn(scene, talk)), await checkMemory(scene, talk)]
}

export async function killedAgent(scene: Scene): Promise<Check[]> {
  const { instance, pid } = scene.stage.server()
  const talk = await scene.open()
  const tool = await runLongCommand(scene, talk)
  const agent = (await markedProcesses(instance)).find(({ parent }) => parent === pid)
  if (agent !== undefined) process.kill(agent.pid, 'SIGKILL')
  const { status } = await talk.settle(true)
  const errors = errorCodes(await talk.events())
  return [
    check('the run has failed', status, 'error'),
    check('the history says so', errors, ['ACPPromptError']),
    ...(await isGone(scene, tool.command)),
    ...(await goesOn(scene, talk)),
    await checkResumed(scene, talk),
  ]
}

export async function restartBetween(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ text: task.finalText }])
  await talk.send(task.prompt)
  const { status } = await talk.settle(true)
  const code = await scene.stage.restart()
  const again = await scene.reopen()
  return [
    check('the run has finished', status, 'finished'),
    check('the server ends on SIGTERM', code, 0),
    ...(await goesOn(scene, again)),
    await checkResumed(scene, again),
  ]
}

export async function restartInside(scene: Scene): Promise<Check[]> {
  const { instance } = scene.stage.server()
  const talk = await scene.open()
  await runLongCommand(scene, talk)
  const code = await scene.stage.restart()
  const left = await markedProcesses(instance)
  const again = await scene.reopen()
  return [
    check('the server ends on SIGTERM', code, 0),
    check('nothing of the first server is left', left, []),
    check('the turn was paused', await again.status(), 'paused'),
    ...(await goesOn(scene, again)),
    await checkResumed(scene, again),
  ]
}

/** Has the agent run a command that takes longer than any test, and waits until it does. */
async function runLongCommand(scene: Scene, talk: Talk): Promise<{ readonly command: string }> {
  scene.stage.say(task.prompt, [{ text: task.text, toolCall: scene.stage.agent.runCommand(longCommand) }])
  await talk.send(task.prompt)
  await talk.untilQuestion()
  await talk.answer(true)
  return untilMarked(scene.stage.server().instance, /^tail -f shell-note/)
}

async function isGone(scene: Scene, tool: string): Promise<Check[]> {
  const { instance } = scene.stage.server()
  const left = (await markedProcesses(instance)).filter(({ command }) => command === tool)
  return [check('the command is gone', left, [])]
}

/** Interrupts: when that is answered the turn is over, and a pause is the last that it has told. */
async function interrupted(talk: Talk): Promise<Check[]> {
  await talk.call('POST', '/interrupt')
  const status = await talk.untilEnd()
  const last = withoutStates(await talk.events()).at(-1)
  return [
    check('the run is paused', status, 'paused'),
    check('a pause is the last event', memberAt(last, 'kind'), 'PauseEvent'),
  ]
}
