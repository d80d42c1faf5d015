/**
 * `npm run client:check`: drives the built server with a published client, and says where the two disagree.
 *
 * The client is `@openhands/typescript-client`, written by others against the public server; it is installed outside
 * the tree and used as it is (client/driver.mjs). Prints a table of its calls and ends with 1 when one failed.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine } from './command-line.ts'
import { drive, finish, printStep } from './driver.ts'
import { installPackages } from './real/agent-package.ts'
import { startBuiltServer } from './real/built-server.ts'
import type { ModelStep } from '../test/fixtures/model-step.ts'
import { startOAuth } from '../test/fixtures/oauth-server.ts'
import { startOpenAiModel } from '../test/fixtures/openai-model.ts'

const timeoutMs = 300_000
const packages = ['@openhands/typescript-client@1.39.0', 'ws@8.18.3']

commandLine({
  command: 'npm run client:check',
  help: 'Drives the built server with the published TypeScript client, and says where the two disagree.',
})
const client = await installPackages('typescript-client-1.39.0', packages)
const folder = await mkdtemp(join(tmpdir(), 'client-check-'))
const workspaces = join(folder, 'workspaces')
await mkdir(workspaces)
const server = await startBuiltServer(folder, [])
const protectedServer = await startOAuth()
const model = await startOpenAiModel({ script: stepsFor, aside: verdictOf, pace: () => ({ tokensPerSecond: 200 }) })
let failed = 0
try {
  const args = [client, server.url, server.key, workspaces, protectedServer.mcp.url, model.url]
  failed = await drive({ driver: 'client/driver.mjs', args, timeoutMs })
} finally {
  const code = await server.stop()
  failed += printStep({ name: 'the server ends on SIGTERM', ok: code === 0, seen: `${code}: ${server.output()}` })
  await protectedServer.close()
  await model.close()
  await rm(folder, { recursive: true, force: true })
}
finish(failed)

/** Returns the answer to a request without tools: that of a content judge, or a summary. */
function verdictOf(prompt: string): string {
  return prompt.includes('Judge now') ? '{"score": 1, "complete": true, "missing": ""}' : 'What was done so far.'
}

/** Returns the steps of the model after a message. */
function stepsFor(prompt: string): readonly ModelStep[] {
  const run = (command: string): ModelStep => ({ toolCall: { name: 'terminal', input: { command } } })
  const finishing: ModelStep = { toolCall: { name: 'finish', input: { message: 'Done with it.' } } }
  if (prompt.includes('What did you do?')) return [{ text: 'I ran a command.' }]
  if (prompt.includes('Run a command.')) return [run('echo hello'), finishing]
  if (prompt.includes('Ask first.')) return [run('echo asked'), finishing]
  if (prompt.includes('Write for long.')) return [{ text: 'word '.repeat(2_000) }]
  return []
}
