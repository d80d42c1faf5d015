/**
 * Scenarios about the things that an agent gets besides its turns: an MCP server of the settings, a question beside the
 * work.
 */
import { fileURLToPath } from 'node:url'
import { check, checkThat, type Check } from './checks.ts'
import { answersTo, lastText, notes, ofKind, withoutStates } from './history.ts'
import { memberAt } from './member.ts'
import { goesOn } from './next-message.ts'
import type { Scene } from './scene.ts'
import type { Talk } from './talk.ts'
import { task } from './task.ts'

const mcpServer = fileURLToPath(new URL('../../test/fixtures/mcp-server.js', import.meta.url))
const question = 'What were you asked to leave?'

/** One server that works and one that cannot be started. */
export async function mcpTool(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const talk = await scene.open({
    policy: 'NeverConfirm',
    secrets: { ENABLE_TOOL_SEARCH: 'false' },
    settings: {
      mcp_config: { words: { command: process.execPath, args: [mcpServer] }, broken: { command: '/nowhere/server' } },
    },
  })
  scene.stage.say('Read the word.', [
    { toolCall: agent.callMcpTool('words', 'read_word') }, { text: 'I have read it.' },
  ])
  await talk.send('Read the word.')
  const { status } = await talk.settle(true)
  const events = await talk.events()
  const [action] = ofKind(events, 'ActionEvent')
  const [answer] = answersTo(action, events)
  const servers = memberAt(await talk.call('GET', ''), 'agent_state', 'acp_mcp_servers')
  const last = [
    check('the run has finished', status, 'finished'),
    check('and the agent has the last word', lastText(events), 'I have read it.'),
  ]
  if (agent.refusesMcpPrograms) {
    const said = notes(events)
    return [
      ...last,
      check(
        'neither server is said to be handed over',
        [memberAt(servers, 0, 'status'), memberAt(servers, 1, 'status')],
        ['unsupported', 'unsupported'],
      ),
      checkThat(
        'the history says so',
        said.some((note) => note.includes('cannot reach these MCP servers: words, broken')),
        said,
      ),
    ]
  }
  return [
    ...last,
    checkThat('the tool gave its word', JSON.stringify(answer ?? null).includes('quince'), answer),
    check('the server was handed over', [memberAt(servers, 0, 'name'), memberAt(servers, 0, 'status')], [
      'words', 'handed_over',
    ]),
    check(
      'of the broken one is said what the agent says',
      memberAt(servers, 1, 'status'),
      agent.tellsOfMcpFailures ? 'failed' : 'handed_over',
    ),
  ]
}

export async function askBeside(scene: Scene): Promise<Check[]> {
  const { agent } = scene.stage
  const talk = await scene.open()
  scene.stage.say(task.prompt, [{ text: task.finalText }])
  scene.stage.say(question, [{ text: 'Two notes.' }])
  await talk.send(task.prompt)
  await talk.settle(true)
  const before = withoutStates(await talk.events())
  const answer = await talk.call('POST', '/ask_agent', { question }).catch(String)
  const knew = scene.requests.map(({ body }) => JSON.stringify(body ?? null)).some((body) => {
    return body.includes(question) && body.includes(task.prompt)
  })
  const after = withoutStates(await talk.events())
  if (!agent.forks) {
    const refused = String(answer).includes('gave 400') && String(answer).includes('cannot copy its session')
    return [
      checkThat('it is refused in words', refused, answer),
      check('nothing was recorded', after, before),
      ...(await goesOn(scene, talk)),
    ]
  }
  return [
    check('it is answered', memberAt(answer, 'response'), 'Two notes.'),
    check('from what the agent knows', knew, true),
    check('nothing was recorded', after, before),
    ...(await goesOn(scene, talk)),
    check(
      'and the agent has not heard of it',
      scene.requests.map(({ body }) => JSON.stringify(body ?? null)).some((body) => {
        return body.includes('Are you still there?') && body.includes(question)
      }),
      false,
    ),
  ]
}

/** While a turn is under way, which goes on: the first one, of which no agent has a copy yet, and the second. */
export async function askDuringTurn(scene: Scene): Promise<Check[]> {
  const talk = await scene.open()
  return [
    ...(await askDuring(scene, talk, task.prompt)), ...(await askDuring(scene, talk, 'Please do that once more.')),
  ]
}

async function askDuring(scene: Scene, talk: Talk, prompt: string): Promise<Check[]> {
  const { agent } = scene.stage
  scene.stage.say(prompt, [{ text: task.text, toolCall: agent.runCommand(task.command) }, { text: task.finalText }])
  scene.stage.say(question, [{ text: 'Two notes.' }])
  await talk.send(prompt)
  await talk.untilQuestion()
  const answer = await talk.call('POST', '/ask_agent', { question }).catch(String)
  const knew = scene.requests.map(({ body }) => JSON.stringify(body ?? null)).some((body) => {
    return body.includes(question) && body.includes(task.prompt)
  })
  await talk.answer(true)
  const { status } = await talk.settle(true)
  return [
    checkThat(
      'it is answered, or refused in words',
      agent.forks ? memberAt(answer, 'response') === 'Two notes.' : String(answer).includes('gave 400'),
      answer,
    ),
    check('from what the agent knows, if it is', knew, agent.forks),
    check('the turn has finished', status, 'finished'),
    check('with its own last word', lastText(await talk.events()), task.finalText),
  ]
}
