/**
 * Turns that go as they should: allowed, unasked, denied, an edit.
 *
 * The order of checks is the order in which a client sees the events.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { check, checkThat, type Check } from './checks.ts'
import { agentMessages, answersTo, lastText, messageText, notes, ofKind, storedIds } from './history.ts'
import { memberAt } from './member.ts'
import { goesOn } from './next-message.ts'
import type { Scene, SceneOptions } from './scene.ts'
import { readNote, task } from './task.ts'

export function allowedTurn(scene: Scene): Promise<Check[]> {
  return leaveNotes(scene, {}, 2)
}

export function openTurn(scene: Scene): Promise<Check[]> {
  return leaveNotes(scene, { policy: 'NeverConfirm' }, 0)
}

export function unknownMode(scene: Scene): Promise<Check[]> {
  return leaveNotes(scene, { settings: { acp_session_mode: 'no-such-mode' } }, 2, ['no-such-mode'])
}

/** `named` holds the texts that the server has to mention by itself, in one note each. */
async function leaveNotes(
  scene: Scene, options: SceneOptions, questionsExpected: number, named: readonly string[] = [],
): Promise<Check[]> {
  const { agent } = scene.stage
  const note = join(scene.workspace, 'file-note.txt')
  scene.stage.say(task.prompt, [
    { thought: task.thought, text: task.text, toolCall: agent.runCommand(task.command, questionsExpected > 0) },
    { toolCall: agent.writeFile(note, 'from-the-tool\n') },
    { text: task.finalText },
  ])
  const talk = await scene.open(options)
  await talk.send(task.prompt)
  const { status, questions } = await talk.settle(true)
  const events = await talk.events()
  const stored = events.map((event) => memberAt(event, 'id'))
  const said = notes(events)
  const seen = storedIds(talk.frames)
  return [
    check('the run has finished', status, 'finished'),
    check('it asked as often as expected', questions, questionsExpected),
    ...checkWords(events),
    ...checkActions(events, note),
    check('the command ran', await readNote(scene, 'shell-note.txt'), 'from-the-shell\n'),
    check('the file was written', await readNote(scene, 'file-note.txt'), 'from-the-tool\n'),
    check('the socket gave the stored history, in order', seen, stored.slice(-seen.length)),
    checkThat(
      'the server told what it had to, and no more',
      said.length === named.length && named.every((name) => said.some((note) => note.includes(name))),
      said,
    ),
  ]
}

function checkWords(events: readonly unknown[]): Check[] {
  const [first] = agentMessages(events)
  // Thoughts that lead to a call and to no text belong to its action.
  const reasoning = events.flatMap((event) => {
    return memberAt(event, 'llm_message', 'reasoning_content') ?? memberAt(event, 'reasoning_content') ?? []
  }).join('\n')
  return [
    checkThat('the thought is kept', reasoning.includes(task.thought), reasoning),
    check('the text is kept', messageText(first), task.text),
    check('the last text is the last message', lastText(events), task.finalText),
  ]
}

function checkActions(events: readonly unknown[], note: string): Check[] {
  const actions = ofKind(events, 'ActionEvent')
  const [command, file] = actions.map((event) => memberAt(event, 'action'))
  const answers = actions.flatMap((action) => answersTo(action, events)).map((event) => memberAt(event, 'kind'))
  return [
    check('there are two actions', [memberAt(command, 'kind'), memberAt(file, 'kind')], [
      'TerminalAction', 'FileEditorAction',
    ]),
    check('the command is told', memberAt(command, 'command'), task.command),
    check('the file is told', memberAt(file, 'path'), note),
    check('both were observed', answers, ['ObservationEvent', 'ObservationEvent']),
  ]
}

export async function edit(scene: Scene): Promise<Check[]> {
  const path = join(scene.workspace, 'story.txt')
  await writeFile(path, 'once upon a time\nthere was a fox\nthe end\n')
  const talk = await scene.open()
  const toolCalls = scene.stage.agent.replaceText(path, 'there was a fox\n', 'there was a hen\n')
  scene.stage.say('A hen, please.', [...toolCalls.map((toolCall) => ({ toolCall })), { text: 'A hen it is.' }])
  await talk.send('A hen, please.')
  const { status } = await talk.settle(true)
  const events = await talk.events()
  const action = memberAt(ofKind(events, 'ActionEvent').at(-1), 'action')
  return [
    check('the run has finished', status, 'finished'),
    check('the edit is an edit', [memberAt(action, 'kind'), memberAt(action, 'command')], [
      'FileEditorAction', 'str_replace',
    ]),
    checkThat('it tells the old text', String(memberAt(action, 'old_str')).includes('there was a fox'), action),
    checkThat('it tells the new text', String(memberAt(action, 'new_str')).includes('there was a hen'), action),
    check('the file was changed', await readNote(scene, 'story.txt'), 'once upon a time\nthere was a hen\nthe end\n'),
  ]
}

export async function denied(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  scene.stage.say(task.prompt, [
    { text: task.text, toolCall: scene.stage.agent.runCommand(task.command) }, { text: 'Then not.' },
  ])
  await talk.send(task.prompt)
  const { status, questions } = await talk.settle(false)
  const events = await talk.events()
  const rejections = ofKind(events, 'UserRejectObservation')
  return [
    check('the run has finished', status, 'finished'),
    check('it asked once', questions, 1),
    check('the refusal is in the history', rejections.map((event) => memberAt(event, 'rejection_reason')), ['Not now']),
    check('the agent went on, or not', lastText(events), scene.stage.agent.stopsWhenDenied ? task.text : 'Then not.'),
    check('the command did not run', await readNote(scene, 'shell-note.txt'), 'no file'),
    ...(await goesOn(scene, talk)),
  ]
}
