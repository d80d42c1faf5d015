/**
 * The demonstration agent as a program, over real pipes: the events that a client sees, and the files that it leaves on
 * disk.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { isObject } from '../../../src/base/json.ts'
import { deferred } from '../../../src/base/wait.ts'
import { RpcError } from '../../../src/rpc/errors.ts'
import { LineFraming } from '../../../src/rpc/lines.ts'
import { RpcPeer, type IncomingRequest } from '../../../src/rpc/peer.ts'
import { isAlive } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('demo agent')
const program = fileURLToPath(new URL('../../../src/parts/demo/main.js', import.meta.url))

type Fields = Record<string, unknown>

interface Client {
  readonly peer: RpcPeer
  readonly child: ChildProcess
  readonly folder: string
  readonly updates: Fields[]
  readonly questions: Fields[]
  sessionId: string
  /** Answers a permission request. */
  answer: (request: IncomingRequest) => unknown
  onUpdate: (update: Fields) => void
  /** All text of one kind of chunk, joined. */
  text(kind: string): string
}

async function withClient(body: (client: Client) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'))
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const client: Client = {
    child,
    folder,
    updates: [],
    questions: [],
    sessionId: '',
    answer: () => selected('allow'),
    onUpdate: () => undefined,
    text: (kind) => {
      return client.updates
        .filter((u) => u['sessionUpdate'] === kind)
        .map((u) => (isObject(u['content']) ? u['content']['text'] : ''))
        .join('')
    },
    peer: new RpcPeer({
      framing: new LineFraming({ input: child.stdout, output: child.stdin }),
      onNotification: ({ params }) => {
        if (!isObject(params) || !isObject(params['update'])) return
        client.updates.push(params['update'])
        client.onUpdate(params['update'])
      },
      onRequest: (request) => {
        if (isObject(request.params) && isObject(request.params['toolCall'])) {
          client.questions.push(request.params['toolCall'])
        }
        return client.answer(request)
      },
    }),
  }
  try {
    await client.peer.request('initialize', { protocolVersion: 1 })
    client.sessionId = idOf(await client.peer.request('session/new', { cwd: folder, mcpServers: [] }))
    await body(client)
    child.stdin.end()
    assert.is(await exited, 0)
  } finally {
    client.peer.close()
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

function prompt(client: Client, ...texts: string[]): Promise<unknown> {
  const blocks = texts.map((text) => ({ type: 'text', text }))
  return client.peer.request('session/prompt', { sessionId: client.sessionId, prompt: blocks })
}

function idOf(result: unknown): string {
  if (!isObject(result) || typeof result['sessionId'] !== 'string') throw new TypeError('no session id')
  return result['sessionId']
}

function selected(optionId: string): object {
  return { outcome: { outcome: 'selected', optionId } }
}

async function failureOf(request: Promise<unknown>): Promise<number> {
  try {
    await request
  } catch (error) {
    if (error instanceof RpcError) return error.code
    throw error
  }
  throw new Error('expected an error')
}

test('says in its first words that it is a script and not an AI', () => withClient(async (client) => {
  await prompt(client, 'hello')
  assert.match(
    client.text('agent_message_chunk'), /^I am the demonstration agent: I follow a fixed script and am not an AI/,
  )
  assert.match(client.text('agent_thought_chunk'), /script has no thoughts/)
}))

test(
  'plays the whole script with a plan, a file, a command and a summary of what happened',
  () => withClient(async (client) => {
    assert.equal(await prompt(client, 'do something'), { stopReason: 'end_turn' })
    assert.is(readFileSync(join(client.folder, 'agent-server-demo.txt'), 'utf8'), 'The demonstration agent was here.\n')
    const plans = client.updates.filter((u) => u['sessionUpdate'] === 'plan')
    assert.is(plans.length, 4)
    assert.match(JSON.stringify(plans[3]), /completed.*completed.*completed/)
    assert.equal(client.questions.map((call) => call['kind']), ['edit', 'execute'])
    assert.match(
      client.text('agent_message_chunk'), /Writing agent-server-demo.txt: done\. Running `ls -la`: done, exit code 0\./,
    )
  }),
)

test('shows the file it writes as a diff, with the old text once there is one', () => withClient(async (client) => {
  await prompt(client, 'once')
  await prompt(client, 'twice')
  const diffs = client.questions.filter((call) => call['kind'] === 'edit').map((call) => call['content'])
  const path = join(client.folder, 'agent-server-demo.txt')
  const line = 'The demonstration agent was here.\n'
  assert.equal(diffs, [
    [{ type: 'diff', path, oldText: null, newText: line }],
    [{ type: 'diff', path, oldText: line, newText: line + line }],
  ])
}))

test('runs the command of a prompt that begins with run: and gives its output and exit code', () => withClient(async (
  client,
) => {
  await prompt(client, 'run: echo out; echo err >&2; exit 3')
  const updates = client.updates.filter((u) => u['sessionUpdate'] === 'tool_call_update')
  assert.match(JSON.stringify(updates), /out\\n/)
  assert.match(JSON.stringify(updates), /err\\n/)
  assert.is(updates.at(-1)?.['status'], 'failed')
  assert.match(JSON.stringify(updates.at(-1)), /"exit_code":3/)
  assert.match(client.text('agent_message_chunk'), /failed, exit code 3/)
}))

test('runs the command beside a record of the conversation', () => withClient(async (client) => {
  await prompt(client, '> user: run: echo old', 'run: echo new')
  assert.match(client.text('agent_message_chunk'), /Running `?echo new`?: done/)
}))

test('writes the file of a prompt that begins with write:', () => withClient(async (client) => {
  await prompt(client, 'write: note.md some words')
  assert.is(readFileSync(join(client.folder, 'note.md'), 'utf8'), 'some words\n')
}))

test('refuses to write outside the workspace', () => withClient(async (client) => {
  for (const file of ['../escaped.txt', '/tmp/agent-server-demo-escaped.txt', '.']) {
    await prompt(client, `write: ${file} text`)
  }
  assert.is(client.questions.length, 0)
  assert.match(client.text('agent_message_chunk'), /failed, it lies outside the workspace/)
}))

test('leaves out what the user does not allow and says so', () => withClient(async (client) => {
  client.answer = () => selected('reject')
  assert.equal(await prompt(client, 'go'), { stopReason: 'end_turn' })
  assert.equal(readdirSync(client.folder), [])
  assert.is(client.questions.length, 2)
  assert.match(
    client.text('agent_message_chunk'), /Writing agent-server-demo.txt: you did not allow it, so I left it\./,
  )
}))

test('asks nothing in mode open', () => withClient(async (client) => {
  await client.peer.request('session/set_mode', { sessionId: client.sessionId, modeId: 'open' })
  await prompt(client, 'go')
  assert.is(client.questions.length, 0)
  assert.is(client.updates[0]?.['currentModeId'], 'open')
  assert.equal(readdirSync(client.folder), ['agent-server-demo.txt'])
}))

test('ends a running command and the prompt when cancelled', () => withClient(async (client) => {
  const started = deferred<void>()
  client.onUpdate = (update) => {
    if (/started-\d/.test(JSON.stringify(update))) started.resolve()
  }
  const ended = prompt(client, 'run: echo started-$$; sleep 600')
  await started.promise
  const pid = Number(/started-(\d+)/.exec(JSON.stringify(client.updates))?.[1])
  await client.peer.notify('session/cancel', { sessionId: client.sessionId })
  assert.equal(await ended, { stopReason: 'cancelled' })
  assert.not(isAlive(pid))
}))

test('ends the prompt when cancelled while it waits for permission', () => withClient(async (client) => {
  const asked = deferred<void>()
  client.answer = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  const ended = prompt(client, 'write: note.md text')
  await asked.promise
  await client.peer.notify('session/cancel', { sessionId: client.sessionId })
  assert.equal(await ended, { stopReason: 'cancelled' })
  assert.equal(readdirSync(client.folder), [])
}))

test('ends the prompt when the answer to a question is cancelled', () => withClient(async (client) => {
  client.answer = () => ({ outcome: { outcome: 'cancelled' } })
  assert.equal(await prompt(client, 'run: touch made'), { stopReason: 'cancelled' })
  assert.equal(readdirSync(client.folder), [])
}))

test('serves a new prompt after a cancelled one', () => withClient(async (client) => {
  const spoken = deferred<void>()
  client.onUpdate = () => spoken.resolve()
  const ended = prompt(client, 'first')
  await spoken.promise
  await client.peer.notify('session/cancel', { sessionId: client.sessionId })
  assert.equal(await ended, { stopReason: 'cancelled' })
  assert.equal(await prompt(client, 'run: true'), { stopReason: 'end_turn' })
}))

test('runs two sessions at once but one prompt at a time in each', () => withClient(async (client) => {
  const first = prompt(client, 'run: true')
  assert.is(await failureOf(prompt(client, 'run: true')), -32602)
  const other = {
    ...client, sessionId: idOf(await client.peer.request('session/new', { cwd: client.folder, mcpServers: [] })),
  }
  assert.equal(await Promise.all([first, prompt(other, 'run: true')]), [
    { stopReason: 'end_turn' }, { stopReason: 'end_turn' },
  ])
}))

test('answers what it does not understand with an error and goes on', () => withClient(async (client) => {
  assert.is(await failureOf(client.peer.request('session/load', { sessionId: client.sessionId })), -32601)
  assert.is(await failureOf(client.peer.request('session/new', { cwd: 'relative' })), -32602)
  assert.is(await failureOf(client.peer.request('session/prompt', { sessionId: 'none' })), -32002)
  assert.is(
    await failureOf(client.peer.request('session/set_mode', { sessionId: client.sessionId, modeId: 'root' })), -32602,
  )
  assert.equal(await client.peer.request('authenticate', { methodId: 'x' }), {})
  assert.equal(await client.peer.request('session/prompt', { sessionId: client.sessionId }), { stopReason: 'end_turn' })
}))

test('says that a file cannot be read or a command not be started', () => withClient(async (client) => {
  writeFileSync(join(client.folder, 'big.txt'), 'x'.repeat(70_000))
  await prompt(client, `write: sub/missing.txt text`)
  await prompt(client, `write: long.txt ${'x'.repeat(70_000)}`)
  assert.match(client.text('agent_message_chunk'), /ENOENT.*it would grow over/)
  rmSync(client.folder, { recursive: true })
  await prompt(client, 'run: true')
  assert.match(client.text('agent_message_chunk'), /Running `true`: failed, spawn/)
}))

test('cuts the output of a command that writes without end', () => withClient(async (client) => {
  await prompt(client, 'run: head -c 3000000 /dev/zero | tr "\\\\0" x')
  assert.match(JSON.stringify(client.updates), /the rest of the output is left out/)
}))

test('ends its command when the client goes away', () => withClient(async (client) => {
  const started = deferred<void>()
  client.onUpdate = (update) => {
    if (/started-\d/.test(JSON.stringify(update))) started.resolve()
  }
  prompt(client, 'run: echo started-$$; sleep 600').catch(() => undefined)
  await started.promise
  const pid = Number(/started-(\d+)/.exec(JSON.stringify(client.updates))?.[1])
  const exited = new Promise((resolve) => client.child.on('exit', resolve))
  client.child.stdin?.end()
  await exited
  assert.not(isAlive(pid))
}))

test.run()
