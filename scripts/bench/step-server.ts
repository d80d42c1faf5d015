/**
 * The server as it is, as a child, with conversations that a model drives through real tools.
 *
 * Each conversation has a folder with ten files of 2 KB, which the model reads in turn. `memory` collects garbage first
 * and returns the memory that is left: the objects of the heap, and the buffers beside it.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { isObject } from '../../src/base/json.ts'
import { createAgentServer, type LLMInput } from '../../src/index.ts'
import { answer } from './child.ts'

const key = 'a-key-that-only-this-benchmark-uses'
const line = 'const next = parser.read(input, { limit, from: position }) // and so on, line by line\n'
const fileBytes = 2048
const files = 10

const folder = await mkdtemp(join(tmpdir(), 'bench-steps-'))
const workspaceDir = join(folder, 'workspace')
const server = await createAgentServer({ port: 0, dataDir: join(folder, 'data'), workspaceDir, sessionApiKeys: [key] })
const { url } = await server.listen()
await mkdir(workspaceDir, { recursive: true })
for (let number = 0; number < files; number++) {
  const text = `// ${number}\n${line.repeat(Math.ceil(fileBytes / line.length))}`
  await writeFile(join(workspaceDir, `file-${number}.txt`), text.slice(0, fileBytes))
}

answer(
  {
    begin,
    beginAll: (list) => Promise.all(Array.isArray(list) ? list.map(begin) : []),
    remove,
    removeAll: (ids) => Promise.all(Array.isArray(ids) ? ids.map(remove) : []),
    async memory() {
      // A callback that waits for a turn of the event loop keeps objects alive that nobody needs any more.
      for (let round = 0; round < 4; round++) {
        await turn()
        globalThis.gc?.()
      }
      const { heapUsed, external, rss } = process.memoryUsage()
      return { used: heapUsed + external, resident: rss }
    },
  },
  async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  },
)

/** Answers with the id of a conversation that has begun to work. */
async function begin(argument: unknown): Promise<string> {
  const { model, baseUrl, condenserUrl } = isObject(argument) ? argument : {}
  const llmAt = (url: unknown): LLMInput => ({ model: String(model), base_url: String(url), api_key: 'none' })
  const condenser = condenserUrl === null ? null : { llm: llmAt(condenserUrl) }
  const agent = { kind: 'Agent' as const, llm: llmAt(baseUrl), tools: [{ name: 'read_file' }], condenser }
  const workspace = { working_dir: workspaceDir }
  const conversation = await server.createConversation({ agent, workspace, max_iterations: 10_000, autotitle: false })
  await conversation.send('Find out who calls the parser.')
  return conversation.id
}

async function remove(id: unknown): Promise<void> {
  const { ok, status } = await fetch(`${url}/api/conversations/${id}`, {
    method: 'DELETE', headers: { 'X-Session-API-Key': key },
  })
  if (!ok) throw new Error(`Could not remove a conversation: ${status}`)
}
