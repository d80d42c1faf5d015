/**
 * What every agent is led through, from a plain turn to a killed program, and what a client must see of it.
 *
 * The script belongs to the stand-in model. Where agents differ by nature (who remembers, who stops when denied), `agents`
 * says it; everything else must be the same for all three.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelStep } from '../../test/fixtures/model-step.ts'
import { answersTo, check, checkThat, ofKind, type Check } from './checks.ts'
import { listAt, memberAt } from './member.ts'
import { markedProcesses, untilMarked } from './processes.ts'
import type { Scenario, Scene } from './scene.ts'
import { deleteSecret, putSecret } from './stage.ts'
import type { Talk } from './talk.ts'

const prompt = 'Please leave two notes in this folder.'
const thought = 'Two notes: one by a command, one by a file tool.'
const text = 'I will write the first note with a command.'
const finalText = 'Both notes are written.'
/** Claude refuses to sleep for long. */
const longCommand = 'touch shell-note.txt && tail -f shell-note.txt'
const command = 'echo from-the-shell > shell-note.txt && cat shell-note.txt'

export const scenarios: readonly Scenario[] = [
  { name: 'no credential, then one', run: withoutCredential },
  { name: 'turn, asked and allowed', run: allowedTurn },
  { name: 'turn that never asks', run: openTurn },
  { name: 'mode that is not offered', run: unknownMode },
  { name: 'edit of a file', run: edit },
  { name: 'denied', run: denied },
  { name: 'cancel while text streams', run: cancelText },
  { name: 'cancel while a tool runs', run: cancelTool },
  { name: 'cancel while it asks', run: cancelQuestion },
  { name: 'agent killed in mid-turn', run: killedAgent },
  { name: 'server restart between turns', run: restartBetween },
  { name: 'server restart in mid-turn', run: restartInside },
  { name: 'model answers 400', run: failing(400) },
  { name: 'model answers 401', run: failing(401) },
  { name: 'model answers 429', run: failing(429) },
  { name: 'model answers 500', run: failing(500) },
]

async function withoutCredential(scene: Scene): Promise<Check[]> {
  const { agent, server } = scene.stage
  const { [agent.keyVariable]: key = '', [agent.baseUrlVariable]: baseUrl = '' } = scene.stage.secrets
  await deleteSecret(server(), agent.keyVariable)
  // A gateway may need no key.
  await deleteSecret(server(), agent.baseUrlVariable)
  const talk = await scene.open()
  scene.stage.say('Who are you?', [{ text: 'The model.' }])
  await talk.send('Who are you?')
  const { status } = await talk.settle(true)
  const errors = ofKind(await talk.events(), 'ConversationErrorEvent')
  await putSecret(server(), agent.keyVariable, key)
  await putSecret(server(), agent.baseUrlVariable, baseUrl)
  await talk.call('POST', '/run')
  const after = await talk.settle(true)
  return [
    check('without a key the run fails', status, 'error'),
    check('and says that a login is required', errors.map((event) => memberAt(event, 'code')), ['ACPAuthRequired']),
    check('with the key it works', after.status, 'finished'),
    check('and the message was not lost', lastText(await talk.events()), 'The model.'),
    check('the model was asked with the key', keysSeen(scene), [key]),
  ]
}

async function allowedTurn(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  const { checks, questions } = await leaveNotes(scene, talk, true)
  return [...checks, check('every action was asked about', questions, 2)]
}

async function openTurn(scene: Scene): Promise<Check[]> {
  const talk = await scene.open({ policy: 'NeverConfirm' })
  const { checks, questions } = await leaveNotes(scene, talk, false)
  return [...checks, check('nothing was asked', questions, 0)]
}

async function unknownMode(scene: Scene): Promise<Check[]> {
  const talk = await scene.open({ settings: { acp_session_mode: 'no-such-mode' } })
  const { checks, questions } = await leaveNotes(scene, talk, true)
  return [...checks, check('every action was asked about', questions, 2)]
}

async function leaveNotes(scene: Scene, talk: Talk, mayAsk: boolean): Promise<{ checks: Check[]; questions: number }> {
  const { agent } = scene.stage
  const note = join(scene.workspace, 'file-note.txt')
  scene.stage.say(prompt, [
    { thought, text, toolCall: agent.runCommand(command, mayAsk) },
    { toolCall: agent.writeFile(note, 'from-the-tool\n') },
    { text: finalText },
  ])
  await talk.send(prompt)
  const { status, questions } = await talk.settle(true)
  const events = await talk.events()
  const actions = ofKind(events, 'ActionEvent')
  const [first] = agentMessages(events)
  const stored = events.map((event) => memberAt(event, 'id'))
  const seen = talk.frames.filter(isStored).map((frame) => memberAt(frame, 'id'))
  const checks = [
    check('the run has finished', status, 'finished'),
    checkThat('the thought is kept', String(memberAt(first, 'llm_message', 'reasoning_content')).includes(thought), first),
    check('the text is kept', textOf(memberAt(first, 'llm_message')), text),
    check('the last text is the last message', lastText(events), finalText),
    check('there are two actions', actions.map((action) => memberAt(action, 'action', 'kind')), ['TerminalAction', 'FileEditorAction']),
    check('the command is told', memberAt(actions[0], 'action', 'command'), command),
    check('the file is told', memberAt(actions[1], 'action', 'path'), note),
    check('both were observed', actions.flatMap((one) => answersTo(one, events)).map((one) => memberAt(one, 'kind')), [
      'ObservationEvent',
      'ObservationEvent',
    ]),
    check('the command ran', await readNote(scene, 'shell-note.txt'), 'from-the-shell\n'),
    check('the file was written', await readNote(scene, 'file-note.txt'), 'from-the-tool\n'),
    check('the socket gave the stored history, in order', seen, stored.slice(-seen.length)),
    check('no model was refused', notes(events), []),
  ]
  return { checks, questions }
}

async function edit(scene: Scene): Promise<Check[]> {
  const path = join(scene.workspace, 'story.txt')
  await writeFile(path, 'once upon a time\nthere was a fox\nthe end\n')
  const talk = await scene.open()
  const toolCalls = scene.stage.agent.replaceText(path, 'there was a fox\n', 'there was a hen\n')
  scene.stage.say('A hen, please.', [...toolCalls.map((toolCall) => ({ toolCall })), { text: 'A hen it is.' }])
  await talk.send('A hen, please.')
  const { status } = await talk.settle(true)
  const events = await talk.events()
  const action = ofKind(events, 'ActionEvent').at(-1)
  return [
    check('the run has finished', status, 'finished'),
    check('the edit is an edit', [memberAt(action, 'action', 'kind'), memberAt(action, 'action', 'command')], ['FileEditorAction', 'str_replace']),
    checkThat('it tells the old text', String(memberAt(action, 'action', 'old_str')).includes('there was a fox'), action),
    checkThat('it tells the new text', String(memberAt(action, 'action', 'new_str')).includes('there was a hen'), action),
    check('the file was changed', await readNote(scene, 'story.txt'), 'once upon a time\nthere was a hen\nthe end\n'),
  ]
}

async function denied(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(prompt, [{ text, toolCall: scene.stage.agent.runCommand(command) }, { text: 'Then not.' }])
  await talk.send(prompt)
  const { status, questions } = await talk.settle(false)
  const events = await talk.events()
  const rejections = ofKind(events, 'UserRejectObservation')
  return [
    check('the run has finished', status, 'finished'),
    check('it asked once', questions, 1),
    check('the refusal is in the history', rejections.map((event) => memberAt(event, 'rejection_reason')), ['Not now']),
    check('the agent went on, or not', lastText(events), scene.stage.agent.stopsWhenDenied ? text : 'Then not.'),
    check('the command did not run', await readNote(scene, 'shell-note.txt'), 'no file'),
    ...(await goesOn(scene, talk)),
  ]
}

async function cancelText(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(prompt, [{ thought, text: 'And on and on. ', isEndless: true }])
  await talk.send(prompt)
  await talk.until('text', (frame) => memberAt(frame, 'kind') === 'StreamingDeltaEvent' && memberAt(frame, 'content') !== undefined)
  return [...(await interrupted(talk)), ...(await goesOn(scene, talk))]
}

async function cancelTool(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  const process = await runLongCommand(scene, talk)
  const checks = await interrupted(talk)
  return [...checks, ...(await isGone(scene, process.command)), ...(await goesOn(scene, talk))]
}

async function cancelQuestion(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(prompt, [{ text, toolCall: scene.stage.agent.runCommand(command) }, { text: finalText }])
  await talk.send(prompt)
  await talk.untilQuestion()
  const checks = await interrupted(talk)
  const ran = check('the command did not run', await readNote(scene, 'shell-note.txt'), 'no file')
  return [...checks, ran, ...(await goesOn(scene, talk))]
}

async function killedAgent(scene: Scene): Promise<Check[]> {
  const { instance, pid } = scene.stage.server()
  const talk = await scene.open()
  const tool = await runLongCommand(scene, talk)
  const agent = (await markedProcesses(instance)).find(({ parent }) => parent === pid)
  if (agent !== undefined) process.kill(agent.pid, 'SIGKILL')
  const { status } = await talk.settle(true)
  const errors = ofKind(await talk.events(), 'ConversationErrorEvent')
  return [
    check('the run has failed', status, 'error'),
    check('the history says so', errors.map((event) => memberAt(event, 'code')), ['ACPPromptError']),
    ...(await isGone(scene, tool.command)),
    ...(await goesOn(scene, talk)),
    ...(await remembers(scene, talk)),
  ]
}

async function restartBetween(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(prompt, [{ text: finalText }])
  await talk.send(prompt)
  const { status } = await talk.settle(true)
  const code = await scene.stage.restart()
  const again = await scene.reopen()
  return [
    check('the run has finished', status, 'finished'),
    check('the server ends on SIGTERM', code, 0),
    ...(await goesOn(scene, again)),
    ...(await remembers(scene, again)),
  ]
}

async function restartInside(scene: Scene): Promise<Check[]> {
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
    ...(await remembers(scene, again)),
  ]
}

/** The agent may tell of the failure or go on trying: the time limit of the conversation ends it then. */
function failing(failure: 400 | 401 | 429 | 500): Scenario['run'] {
  return async (scene) => {
    const talk = await scene.open({ settings: { acp_prompt_timeout: 20 }, secrets: scene.stage.agent.impatience })
    scene.stage.say(prompt, [{ failure, text: 'The script says so' }])
    await talk.send(prompt)
    const { status } = await talk.settle(true)
    const errors = ofKind(await talk.events(), 'ConversationErrorEvent')
    const code = failure === 401 ? 'ACPAuthRequired' : 'ACPPromptError'
    return [
      check('the run has failed', status, 'error'),
      check('the history says so', errors.map((event) => memberAt(event, 'code')), [code]),
      ...(await goesOn(scene, talk)),
    ]
  }
}

/** Has the agent run a command that takes longer than any test, and waits until it does. */
async function runLongCommand(scene: Scene, talk: Talk): Promise<{ readonly command: string }> {
  const steps: ModelStep[] = [{ text, toolCall: scene.stage.agent.runCommand(longCommand) }]
  scene.stage.say(prompt, steps)
  await talk.send(prompt)
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
  const events = await talk.events()
  const kinds = events.filter((event) => memberAt(event, 'kind') !== 'ConversationStateUpdateEvent').map((event) => memberAt(event, 'kind'))
  return [check('the run is paused', status, 'paused'), check('a pause is the last event', kinds.at(-1), 'PauseEvent')]
}

/** A message after whatever happened is answered, and nothing came between. */
async function goesOn(scene: Scene, talk: Talk): Promise<Check[]> {
  const before = await talk.events()
  const next = 'Are you still there?'
  scene.stage.say(next, [{ text: 'Still here.' }])
  await talk.send(next)
  const { status } = await talk.settle(true)
  const events = await talk.events()
  const asked = events.findLastIndex((event) => memberAt(event, 'source') === 'user' && memberAt(event, 'kind') === 'MessageEvent')
  const between = events.slice(before.length, asked).filter((event) => memberAt(event, 'kind') !== 'ConversationStateUpdateEvent')
  return [
    check('nothing came after the end of the turn', between, []),
    check('another message is served', status, 'finished'),
    check('and answered', lastText(events), 'Still here.'),
  ]
}

/** The model was shown the first message again, or the user was told that the agent forgot. */
async function remembers(scene: Scene, talk: Talk): Promise<Check[]> {
  const { agent } = scene.stage
  const asked = scene.requests.map(({ body }) => JSON.stringify(body ?? null))
  const isShown = asked.some((body) => body.includes('Are you still there?') && body.includes(prompt))
  const told = notes(await talk.events()).some((note) => note.includes('does not remember'))
  return [check('it remembers, or says that it does not', [isShown, told], agent.resumes ? [true, false] : [false, true])]
}

function keysSeen(scene: Scene): unknown[] {
  return [...new Set(scene.requests.map((request) => request.apiKey))]
}

function readNote(scene: Scene, name: string): Promise<string> {
  return readFile(join(scene.workspace, name), 'utf8').catch(() => 'no file')
}

function agentMessages(events: readonly unknown[]): unknown[] {
  return ofKind(events, 'MessageEvent').filter((event) => memberAt(event, 'source') === 'agent')
}

function lastText(events: readonly unknown[]): string {
  return textOf(memberAt(agentMessages(events).at(-1), 'llm_message'))
}

/** What the server has said by itself. */
function notes(events: readonly unknown[]): string[] {
  return ofKind(events, 'MessageEvent')
    .filter((event) => memberAt(event, 'source') === 'environment')
    .map((event) => textOf(memberAt(event, 'llm_message')))
}

function textOf(holder: unknown): string {
  return listAt(holder, 'content').map((part) => memberAt(part, 'text')).join('')
}

/** Decision 2: these frames are pushed and never stored. */
function isStored(frame: unknown): boolean {
  const isPushed = ['StreamingDeltaEvent', 'ServerErrorEvent'].includes(String(memberAt(frame, 'kind')))
  return !isPushed && memberAt(frame, 'key') !== 'full_state'
}
