/** Turns of a preset whose agent is installed, is changed, or is not installed. */
import * as assert from 'uvu/assert'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFakeNpm } from '../support/fake-npm.ts'
import { runToEnd, startServer, type TestServer } from '../support/server.ts'
import { makeFolder, until } from '../support/processes.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, type Talk } from './talk.ts'

const test = suite('installed agents')
const codex = { agent: { kind: 'ACPAgent', acp_server: 'codex', acp_command: [], acp_args: ['echo'] } }

async function inFolder(body: (folder: string, start: () => Promise<TestServer>) => Promise<void>): Promise<void> {
  const { folder, remove } = makeFolder()
  const environment = { PATH: makeFakeNpm(folder), HOME: folder }
  const dirs = ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')]
  try {
    const { code, stderr } = await runToEnd(['agents', 'install', 'codex', ...dirs], folder, environment)
    assert.is(code, 0, stderr)
    await body(folder, () => startServer({ folder, environment }))
  } finally {
    remove()
  }
}

async function failureOf(talk: Talk): Promise<unknown> {
  await talk.send('hello')
  await talk.reaches('error')
  return (await talk.events()).find(({ kind }) => kind === 'ConversationErrorEvent')
}

test(
  'a preset is driven by its installed agent, and fails with ACPSpawnError when that was changed',
  () => inFolder(async (folder, start) => {
    const server = await start()
    try {
      const talk = await startTalk(server, codex)
      await talk.send('hello')
      await talk.reaches('finished')
      assert.match(messagesOf(await talk.events(), 'agent').join(), 'hello')
      const agents = join(folder, 'data', 'agents')
      const [files = ''] = readdirSync(agents).filter((name) => name.startsWith('codex@'))
      writeFileSync(join(agents, files, 'node_modules/@agentclientprotocol/codex-acp/bin/tool'), '#!/bin/sh\ntrue\n')
      const failure = JSON.stringify(await failureOf(await startTalk(server, codex)))
      assert.match(failure, '"code":"ACPSpawnError"')
      assert.match(
        failure,
        /its file \\"node_modules\/@agentclientprotocol\/codex-acp\/bin\/tool\\" was changed after it was installed/,
      )
      assert.match(failure, 'agent-server agents verify codex')
    } finally {
      await server.close()
    }
  }),
)

test(
  'a preset whose agent is not installed says so and how to install it, and starts no npx',
  () => inFolder(async (_, start) => {
    const server = await start()
    try {
      const talk = await startTalk(server, { agent: { kind: 'ACPAgent', acp_server: 'gemini-cli', acp_command: [] } })
      const failure = JSON.stringify(await failureOf(talk))
      assert.match(failure, '"code":"ACPSpawnError"')
      assert.match(
        failure, /\\"gemini-cli\\" is not installed: install it with \\"agent-server agents install gemini-cli\\"/,
      )
      assert.not.ok(outline(await talk.events()).includes('SystemPromptEvent'))
    } finally {
      await server.close()
    }
  }),
)

test(
  'a change that only digests show is found in the background after a start',
  () => inFolder(async (folder, start) => {
    const agents = join(folder, 'data', 'agents')
    const [files = ''] = readdirSync(agents).filter((name) => name.startsWith('codex@'))
    writeFileSync(
      join(agents, files, 'node_modules/@agentclientprotocol/codex-acp/lib/data.js'), 'export const data = "date"\n',
    )
    const server = await start()
    try {
      await until(() => server.log.some((line) => line.includes('The files of an installed agent have changed')))
      assert.is((await server.rest.get('/ready')).status, 200)
      assert.match(JSON.stringify(await failureOf(await startTalk(server, codex))), /lib\/data\.js\\" was changed/)
    } finally {
      await server.close()
    }
  }),
)

test.run()
