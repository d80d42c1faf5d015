/**
 * Hooks over REST: the stored configuration, the answers, the input of a hook of a real server, and the conversations
 * that hooks run for.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isAlive, pidsIn, until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { fakeAgent, startServer, withPrograms, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, type Talk } from './talk.ts'

const test = suite('e2e/hooks')
let server: TestServer

test.before(async () => {
  const environment = {
    PATH: process.env['PATH'], AGENT_SERVER_SECRET_KEY: 'never', SESSION_API_KEY: 'never', CHOSEN: 'yes', OTHER: 'no',
  }
  server = await startServer({ environment, passEnv: ['CHOSEN'] })
})
test.after(() => server.close())

const agent = { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [{ name: 'terminal' }] }

async function folderOf(talk: Talk): Promise<string> {
  return textAt((await talk.get()).json, 'workspace', 'working_dir')
}

test('hooks are answered in one form, whichever they came in', async () => {
  const talk = await startTalk(server, {
    agent, hook_config: { hooks: { Stop: [{ hooks: [{ command: 'true', timeout: 5 }] }] } },
  })
  const hook = { type: 'command', command: 'true', tools: [], timeout: 5, max_iterations: 3, async: false }
  assert.equal(member((await talk.get()).json, 'hook_config'), {
    pre_tool_use: [], post_tool_use: [], user_prompt_submit: [], session_start: [], session_end: [],
    stop: [{ matcher: '*', hooks: [hook] }],
  })
})

test('a hook blocks a command of the agent, sees no key of the server, and no secret is in what it says', async () => {
  const command = 'env | sort > variables; echo "not with $(printf the-secret-value) here" >&2; exit 2'
  const secrets = { TOKEN: { kind: 'StaticSecret', value: 'the-secret-value' } }
  const talk = await startTalk(server, {
    agent, secrets, hook_config: { PreToolUse: [{ matcher: '/term.*/', hooks: [{ command }] }] },
  })
  await talk.send('work')
  await talk.reaches('finished')
  const events = await talk.events()
  const words = outline(events)
  assert.ok(words.includes('TerminalAction'))
  assert.not.ok(words.includes('TerminalObservation'))
  const rejection = events.find(({ kind }) => kind === 'UserRejectObservation')
  assert.is(member(rejection, 'rejection_source'), 'hook')
  assert.is(member(rejection, 'rejection_reason'), 'not with <secret-hidden> here')
  const names = readFileSync(join(await folderOf(talk), 'variables'), 'utf8').trim().split('\n').map((line) => {
    return line.split('=')[0] ?? ''
  })
  const wanted = [
    'AGENT_SERVER_CHILD', 'CHOSEN', 'OPENHANDS_EVENT_TYPE', 'OPENHANDS_PROJECT_DIR', 'OPENHANDS_SESSION_ID',
    'OPENHANDS_TOOL_NAME', 'PATH',
  ]
  const ofTheShell = ['NODE_V8_COVERAGE', 'OLDPWD', 'PWD', 'SHLVL', '_']
  assert.equal(names.filter((name) => !ofTheShell.includes(name)), wanted)
})

test(
  'a message that a hook refuses ends in finished with the reason, for the first message of a request too',
  async () => {
    const hook_config = { user_prompt_submit: [{ hooks: [{ command: 'echo "ask nicely" >&2; exit 2' }] }] }
    const initial_message = { content: [{ type: 'text', text: 'do it' }] }
    const talk = await startTalk(server, { agent, hook_config, initial_message })
    await talk.reaches('finished')
    const events = await talk.events()
    assert.equal(messagesOf(events, 'agent'), [])
    assert.equal(messagesOf(events, 'environment'), ['[Message blocked by hook] ask nicely'])
  },
)

test('hooks of a conversation with an external agent are kept and not run', async () => {
  const list = [{ hooks: [{ command: 'touch ran' }] }]
  const hook_config = { session_start: list, user_prompt_submit: list, stop: list }
  const talk = await startTalk(server, { agent: fakeAgent('echo'), hook_config })
  await talk.send('hello')
  await talk.reaches('finished')
  assert.not.ok(existsSync(join(await folderOf(talk), 'ran')))
  assert.is(member((await talk.get()).json, 'hook_config', 'stop', 0, 'hooks', 0, 'command'), 'touch ran')
})

test('a file of the workspace is never taken for hooks', async () => {
  const talk = await startTalk(server, { agent })
  const folder = await folderOf(talk)
  mkdirSync(join(folder, '.openhands'))
  writeFileSync(
    join(folder, '.openhands', 'hooks.json'), JSON.stringify({ stop: [{ hooks: [{ command: 'touch ran' }] }] }),
  )
  await talk.send('hello')
  await talk.reaches('finished')
  assert.not.ok(existsSync(join(folder, 'ran')))
})

test('a hook that runs when the server is killed is gone when it has started again', withPrograms(async (start) => {
  const first = await start()
  const hook_config = { user_prompt_submit: [{ hooks: [{ command: 'touch $$; exec sleep 1000' }] }] }
  const talk = await startTalk(first, { agent, hook_config })
  const folder = await folderOf(talk)
  const sending = talk.send('work').catch(() => undefined)
  await until(() => pidsIn(folder).length === 1)
  await first.stop('SIGKILL')
  await sending
  for (const pid of pidsIn(folder)) assert.ok(isAlive(pid))
  await start()
  for (const pid of pidsIn(folder)) assert.not.ok(isAlive(pid))
}))

test.run()
