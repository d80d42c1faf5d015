/**
 * Agents that break every rule, as a client meets them: each has its code, its words and the end of its stderr, masked,
 * within its deadline, and the conversation beside it does not feel it.
 */
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, type Talk } from './talk.ts'

const test = suite('broken agents')
const secret = 'SECRET-VALUE-1'
const tail = 'it wrote: last words of <secret-hidden>'
let server: TestServer
let neighbour: Talk

test.before(async () => {
  server = await startServer({ agentLineLimitBytes: 200_000 })
  neighbour = await startTalk(server, 'echo')
})
test.after(() => server.close())

interface Row {
  readonly behaviour: string
  readonly code: string
  readonly words: string
  /** Where the agent's last words belong: not to a missing login, which explains itself. */
  readonly hasTail?: false
}

/** Who says nothing in a turn for so long that it is ended. */
const silent = ['endless-noise', 'never-a-word', 'never', 'ignores-cancel']

const rows: readonly Row[] = [
  { behaviour: 'silent', code: 'ACPStartupTimeout', words: 'The agent was not ready within 2 s' },
  { behaviour: 'exit-start', code: 'ACPInitError', words: 'The agent exited with code 7' },
  { behaviour: 'wrong-version', code: 'ACPInitError', words: 'version 2 of ACP, expected 1' },
  { behaviour: 'refuses-initialize', code: 'ACPInitError', words: '[-32600] No' },
  { behaviour: 'no-session-id', code: 'ACPInitError', words: 'a session without an id' },
  { behaviour: 'exit-mid-line', code: 'ACPPromptError', words: 'The agent exited with code 3' },
  { behaviour: 'exit-in-tool', code: 'ACPPromptError', words: 'The agent exited with code 0' },
  { behaviour: 'closes-output', code: 'ACPPromptError', words: 'The agent closed its output' },
  { behaviour: 'holds-output', code: 'ACPPromptError', words: 'The agent exited with code 4' },
  { behaviour: 'huge-line', code: 'ACPPromptError', words: 'a line of more than 200000 bytes' },
  { behaviour: 'endless-line', code: 'ACPPromptError', words: 'a line of more than 200000 bytes' },
  { behaviour: 'endless-noise', code: 'ACPPromptError', words: 'The agent sent nothing for 2 s' },
  { behaviour: 'never-a-word', code: 'ACPPromptError', words: 'The agent sent nothing for 2 s' },
  { behaviour: 'never', code: 'ACPPromptError', words: 'The agent sent nothing for 2 s' },
  { behaviour: 'ignores-cancel', code: 'ACPPromptError', words: 'The agent sent nothing for 2 s' },
  { behaviour: 'api-error', code: 'ACPPromptError', words: '[-32603] Internal error' },
  { behaviour: 'cancelled', code: 'ACPPromptError', words: 'cancelled the turn by itself', hasTail: false },
  { behaviour: 'login', code: 'ACPAuthRequired', words: 'Authentication required', hasTail: false },
  { behaviour: 'login-prompt', code: 'ACPAuthRequired', words: 'Authentication required', hasTail: false },
]

for (const { behaviour, code, words, hasTail = true } of rows) {
  test(`an agent that does "${behaviour}" fails with ${code}, and nobody else feels it`, async () => {
    const talk = await startBroken(behaviour)
    await talk.send('go')
    await neighbourAnswers(behaviour)
    await talk.reaches('error')
    const errors = (await talk.events()).filter(({ kind }) => kind === 'ConversationErrorEvent')
    assert.equal(errors.map((event) => event['code']), [code])
    const detail = String(errors[0]?.['detail'])
    assert.ok(detail.includes(words), detail)
    assert.is(detail.includes(tail), hasTail, detail)
    assert.not.match((await talk.get('/events/search')).text, secret)
    assert.is((await talk.get()).status, 200)
    await neighbourAnswers(`${behaviour}, later`)
  })
}

for (const behaviour of ['banner', 'half-json', 'broken-messages', 'answers-twice', 'late']) {
  test(`an agent that does "${behaviour}" is put up with`, async () => {
    const talk = await startBroken(behaviour)
    for (const words of ['one', 'two']) {
      await talk.send(words)
      await talk.reaches('finished')
    }
    assert.not.ok(outline(await talk.events()).some((word) => word.startsWith('error')))
  })
}

test(
  'an agent that never stops talking is not read faster than it is stored, and is gone when it is stopped',
  async () => {
    const talk = await startBroken('endless')
    await talk.send('go')
    await until(async () => messagesOf(await talk.events(), 'agent').length > 0)
    await neighbourAnswers('endless')
    assert.is((await talk.post('/interrupt')).status, 200)
    assert.is(await talk.status(), 'paused')
    const events = await talk.events()
    await neighbourAnswers('after the endless one')
    assert.equal(await talk.events(), events)
  },
)

function startBroken(behaviour: string): Promise<Talk> {
  const { acp_command: command } = fakeAgent(behaviour)
  return startTalk(server, {
    agent: {
      kind: 'ACPAgent',
      acp_command: [...command, `last words of ${secret}\n`],
      acp_startup_timeout: behaviour === 'silent' ? 2 : 60,
      acp_prompt_timeout: silent.includes(behaviour) ? 2 : 60,
    },
    secrets: { TOKEN: { kind: 'StaticSecret', value: secret } },
  })
}

/** A turn of another conversation, from its message to its end. */
async function neighbourAnswers(words: string): Promise<void> {
  await neighbour.send(`beside ${words}`)
  await until(async () => (messagesOf(await neighbour.events(), 'agent').at(-1) ?? '').includes(`beside ${words}`))
  await neighbour.reaches('finished')
}

test.run()
