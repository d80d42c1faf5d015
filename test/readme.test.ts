/**
 * Runs the shell examples of README.md and of the manual beside the code, in order and in one shell, against a server
 * of their own.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { createAgentServer } from '../src/index.ts'
import { suite } from './support/suite.ts'

const test = suite('README.md')
const key = 'readme-example-key'

/** The shell block behind the marker `<!-- run: name -->` of a document. */
function example(document: string, name: string): string {
  const text = readFileSync(new URL(`../../${document}`, import.meta.url), 'utf8')
  const [, block] = new RegExp(`<!-- run: ${name} -->\\n\`\`\`sh\\n([^]*?)\`\`\``).exec(text) ?? []
  if (block === undefined) throw new Error(`${document} has no example "${name}"`)
  return block
}

test('the shell examples do what the text says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-readme-'))
  const server = await createAgentServer({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'work'),
    sessionApiKeys: [key],
    port: 0,
    environment: { PATH: process.env['PATH'], HOME: folder },
  })
  try {
    const { url } = await server.listen()
    const script = [
      'set -euo pipefail', `URL=${url}`, `KEY=${key}`, example('README.md', 'rest'),
      example('src/api/README.md', 'socket'),
      example('src/agents/acp/README.md', 'settings'), example('src/parts/builtin/README.md', 'built-in'),
    ]
    const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')])
    assert.match(stdout, '{"success":true}')
    assert.match(stdout, /ActionEvent execute/)
    assert.match(stdout, /ConversationStateUpdateEvent execution_status finished/)
    assert.match(stdout, '"acp_server":"claude-code"')
    assert.match(stdout, '{"name":"ANTHROPIC_API_KEY","description":null}')
    assert.match(stdout, 'a fixed script, not a language model')
  } finally {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
