/**
 * Drives the built server with the published Python client (client/python/driver.py), with its built-in agent, whose
 * model is a stand-in that streams at a real pace, and with the demonstration agent.
 *
 * Runs once with the client whose version `/server_info` names, and once with the newest. Both are installed outside
 * the tree (real/python.ts).
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drive, finish, printStep } from './driver.ts'
import { startBuiltServer } from './real/built-server.ts'
import { installPython } from './real/python.ts'
import type { ModelStep } from '../test/fixtures/model-step.ts'
import { startOpenAiModel } from '../test/fixtures/openai-model.ts'

const timeoutMs = 400_000
const fastapi = 'fastapi==0.150.0'
const clients = [
  {
    name: '1.43.1', folder: 'openhands-agent-server-1.43.1',
    requirements: ['openhands-agent-server==1.43.1', 'openhands-sdk==1.43.1', 'openhands-tools==1.43.1', fastapi],
  },
  { name: 'newest', folder: 'openhands-sdk-newest', requirements: ['openhands-sdk', 'openhands-tools'], newest: true },
]

const finishing: ModelStep = { toolCall: { name: 'finish', input: { message: 'Done with it.' } } }
const run = (command: string): ModelStep => ({ toolCall: { name: 'terminal', input: { command } } })
const scripts: Readonly<Record<string, readonly ModelStep[]>> = {
  'Run a command.': [{ ...run('echo hello'), text: 'I run a command.' }, finishing],
  'Say something.': [{ text: 'Here are some words of a model.' }],
  'Ask first.': [run('echo asked'), finishing],
  'Write for long.': [run('sleep 2'), { text: 'word '.repeat(200) }],
}

const model = await startOpenAiModel({
  script: (prompt) => scripts[prompt] ?? [], pace: () => ({ tokensPerSecond: 200 }),
})
let failed = 0
try {
  for (const client of clients) failed += await driveWith(client)
} finally {
  await model.close()
}
finish(failed)

async function driveWith({ name, ...packages }: (typeof clients)[number]): Promise<number> {
  const environment = await installPython(packages)
  const folder = await mkdtemp(join(tmpdir(), 'client-python-'))
  await mkdir(join(folder, 'work'))
  process.stdout.write(`openhands-sdk ${name}\n`)
  const server = await startBuiltServer(folder, ['--workspace-dir', join(folder, 'work')])
  let faults = 0
  try {
    const interpreter = join(environment, 'bin', 'python')
    const args = [server.url, server.key, join(folder, 'work'), model.url]
    faults = await drive({ driver: 'client/python/driver.py', interpreter, args, timeoutMs })
  } finally {
    const code = await server.stop()
    faults += printStep({ name: 'the server ends on SIGTERM', ok: code === 0, seen: `${code}: ${server.output()}` })
    await rm(folder, { recursive: true, force: true })
  }
  return faults
}
