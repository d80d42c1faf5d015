/**
 * A batch over a git repository: a conversation for each Markdown file, four at a time, and a table of the answers.
 *
 * Each conversation works in the repository. A file whose conversation fails is reported, and the batch goes on. The
 * agent here is the demonstration agent, which runs `run: COMMAND`; for a real agent pass
 * `agent: { kind: 'ACPAgent', acp_server: 'claude-code' }` and ask in words. Run: node batch.ts REPOSITORY [FOLDER]
 */
import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createAgentServer } from 'agent-server'

const [repository = '.', given] = process.argv.slice(2)
const folder = given ?? await mkdtemp(join(tmpdir(), 'batch-'))
const working_dir = resolve(repository)
const listed = await promisify(execFile)('git', ['-C', working_dir, 'ls-files', '-z', '*.md'])
const files = listed.stdout.split('\0').filter((name) => name !== '')

const server = await createAgentServer({
  dataDir: join(folder, 'data'),
  workspaceDir: join(folder, 'work'),
  environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  agentLimit: 4,
})

async function examine(file: string): Promise<string> {
  const conversation = await server.createConversation({ workspace: { working_dir }, tags: { batch: 'headings' } })
  await conversation.send(`run: grep -c '^#' '${file.replaceAll("'", `'\\''`)}'`)
  const status = await conversation.ended(AbortSignal.timeout(120_000))
  if (status !== 'finished') throw new Error(`The conversation is ${status}`)
  const [result] = (await conversation.events({ kind: 'ObservationEvent', newestFirst: true, limit: 1 })).items
  if (result?.kind !== 'ObservationEvent' || !('content' in result.observation)) throw new Error('No command has run')
  return result.observation.content.map((part) => (part.type === 'text' ? part.text : '')).join('').trim()
}

const waiting = [...files]
let failures = 0
async function work(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const answer = await examine(file).catch((error: unknown) => {
      failures++
      return `failed: ${error instanceof Error ? error.message : String(error)}`
    })
    console.log(`${file}\t${answer}`)
  }
}
await Promise.all([work(), work(), work(), work()])
await server.close()
console.log(`${files.length - failures} of ${files.length} files`)
process.exitCode = failures === 0 ? 0 : 1
