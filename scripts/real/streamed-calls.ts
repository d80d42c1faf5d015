/**
 * Calls whose inputs come piece by piece, as models write them: the recorded call must be the call that runs.
 *
 * Decision 3: before a question is answered, the record contains its command or text, even if the pieces came slowly
 * and with other updates between them. Work that an agent goes on with after its turn is seen, asked about and
 * recorded.
 */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { check, checkThat, type Check } from './checks.ts'
import { answersTo, lastText, ofKind } from './history.ts'
import { listAt, memberAt } from './member.ts'
import type { Scene } from './scene.ts'
import type { Talk } from './talk.ts'
import { readNote, task } from './task.ts'

const doomed = [
  'reports/2025', 'reports/2026', 'archive/photos', 'archive/letters', 'build/cache', 'build/output', 'drafts',
]

/** A command that must not run unseen; it is denied. */
export async function slowQuestion(scene: Scene): Promise<Check[]> {
  for (const path of doomed) await mkdir(join(scene.workspace, path), { recursive: true })
  const command = `rm -rf ${doomed.map((path) => `"./${path}"`).join(' ')} && echo "all\tgone"`
  const talk = await scene.open()
  scene.stage.say(task.prompt, [
    { text: task.text, toolCall: scene.stage.agent.runCommand(command) }, { text: 'Then not.' },
  ])
  await talk.send(task.prompt)
  await talk.untilQuestion()
  const shown = await asked(talk)
  await talk.answer(false)
  const { status } = await talk.settle(false)
  const left = doomed.filter((path) => existsSync(join(scene.workspace, path)))
  return [
    ...shown.map(({ action, question }) => {
      return checkThat(
        'the question shows its command, on record and pending',
        contains(action, command) && contains(question, command),
        { action, question },
      )
    }),
    check('it is the only question', shown.length, 1),
    check('the run has finished', status, 'finished'),
    check('nothing was deleted', left, doomed),
  ]
}

export async function slowFile(scene: Scene): Promise<Check[]> {
  const path = join(scene.workspace, 'letter.txt')
  const content = Array.from({ length: 12 }, (_, line) => {
    return `${line + 1}. "Quoted", a tab\there, a backslash \\ and ünïcödé 🦊.`
  }).join('\n') +
    '\n'
  const talk = await scene.open()
  scene.stage.say(task.prompt, [
    { text: task.text, toolCall: scene.stage.agent.writeFile(path, content) }, { text: task.finalText },
  ])
  await talk.send(task.prompt)
  const { status } = await talk.settle(true)
  const events = await talk.events()
  const actions = ofKind(events, 'ActionEvent').map((event) => memberAt(event, 'action'))
  const [action] = actions
  const answers = ofKind(events, 'ActionEvent').flatMap((event) => answersTo(event, events))
  const text = String(memberAt(action, 'file_text') ?? memberAt(action, 'new_str'))
  return [
    check('the run has finished', status, 'finished'),
    check(
      'there is one action, on that file',
      actions.map((one) => [memberAt(one, 'kind'), memberAt(one, 'path')]),
      [['FileEditorAction', path]],
    ),
    check('with the whole text', text.trimEnd(), content.trimEnd()),
    check(
      'it was observed without an error',
      answers.map((one) => memberAt(one, 'observation', 'is_error') ?? false),
      [false],
    ),
    check('the file has it', (await readNote(scene, 'letter.txt')).trimEnd(), content.trimEnd()),
  ]
}

/** Both are announced before either is filled. */
export async function growingCalls(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const commands = ['one', 'two'].map((name) => {
    return `echo "the first line of ${name}" > ${name}.txt && echo "the second line of ${name}" >> ${name}.txt`
  })
  const [first, second] = commands.map((command) => agent.runCommand(command))
  const calls = {
    ...(first === undefined ? {} : { toolCall: first }), moreToolCalls: second === undefined ? [] : [second],
  }
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ text: task.text, ...calls }, { text: task.finalText }])
  await talk.send(task.prompt)
  const { status } = await talk.settle(true)
  const actions = ofKind(await talk.events(), 'ActionEvent').map((event) => memberAt(event, 'action'))
  const files = await Promise.all(['one.txt', 'two.txt'].map((name) => readNote(scene, name)))
  return [
    check('the run has finished', status, 'finished'),
    check(
      'each has an action with its command',
      actions.map((action) => memberAt(action, 'command')).sort(),
      [...commands].sort(),
    ),
    check('both ran', files.map((text) => text.split('\n').length), [3, 3]),
  ]
}

/**
 * A command goes on behind the turn; when it ends the agent goes on by itself, and asks. Claude runs loops that only
 * look unasked.
 */
export async function ownTurn(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const background = agent.runInBackground?.('touch began.txt && until [ -e go.txt ]; do sleep 0.2; done; echo ' +
    'the-background-is-done')
  if (background === undefined) return []
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ toolCall: background }, { text: 'It runs on.' }])
  await talk.send(task.prompt)
  const { status } = await talk.settle(true)
  const own = agent.runCommand('touch own.txt')
  scene.stage.say(task.prompt, [{ toolCall: background }, { toolCall: own }, { text: 'I went on by myself.' }])
  await writeFile(join(scene.workspace, 'go.txt'), '')
  const question = await talk.untilQuestion().then(() => asked(talk), String)
  const before = await readNote(scene, 'own.txt')
  const end = typeof question === 'string' ? question : (await talk.answer(true), (await talk.settle(true)).status)
  return [
    check('the first run has finished', status, 'finished'),
    checkThat(
      'its own command is asked about, and shown',
      typeof question !== 'string' && question.every(({ action }) => contains(action, 'touch own.txt')),
      question,
    ),
    check('it does not run before', before, 'no file'),
    check('its own run has finished', end, 'finished'),
    check('and then it ran', await readNote(scene, 'own.txt'), ''),
    check('what it said is recorded', lastText(await talk.events()), 'I went on by myself.'),
  ]
}

interface Asked {
  /** The action on record that the question is about. */
  readonly action: unknown
  /** As the route for pending confirmations shows it. */
  readonly question: unknown
}

async function asked(talk: Talk): Promise<Asked[]> {
  const pending = await talk.call('GET', '/confirmations')
  const questions = Array.isArray(pending) ? pending : listAt(pending, 'items')
  const actions = ofKind(await talk.events(), 'ActionEvent')
  return questions.map((question) => {
    const action = actions.findLast((event) => memberAt(event, 'tool_call_id') === memberAt(question, 'tool_call_id'))
    return { action: memberAt(action, 'action'), question }
  })
}

function contains(value: unknown, text: string): boolean {
  return (JSON.stringify(value) ?? '').includes(JSON.stringify(text).slice(1, -1))
}
