/**
 * The server as it is, as a child, with so many conversations, none of which is open.
 *
 * One is made by the server; the others are copies of its folder with an id and times of their own, since making each
 * durably would take minutes.
 */
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import { formatMicros } from '../../src/base/stamp.ts'
import { createAgentServer, type AgentServer } from '../../src/index.ts'
import { hashOf } from '../../src/storage/chain.ts'
import { answer } from './child.ts'

const key = 'a-key-that-only-this-benchmark-uses'
const firstMicros = Date.UTC(2026, 0) * 1000
const folder = await mkdtemp(join(tmpdir(), 'bench-list-'))
const conversations = join(folder, 'data', 'conversations')
let server = await start()

answer(
  {
    async fill(count) {
      const { id } = await server.createConversation()
      await server.close()
      for (let number = 1; number < Number(count); number++) await copyConversation(id, number)
      server = await start()
      return (await server.listen()).port
    },
    key: () => key,
  },
  async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  },
)

function start(): Promise<AgentServer> {
  return createAgentServer({
    port: 0, dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace'), sessionApiKeys: [key],
  })
}

async function copyConversation(id: string, number: number): Promise<void> {
  const copyId = `${number.toString(16).padStart(8, '0')}${id.slice(8)}`
  const copy = join(conversations, copyId)
  await mkdir(copy)
  for (const name of await readdir(join(conversations, id), { withFileTypes: true })) {
    if (!name.isFile()) continue
    const content = await readFile(join(conversations, id, name.name))
    await writeFile(join(copy, name.name), name.name === 'state.json' ? stateOf(content, copyId, number) : content)
  }
}

/** As storage/state-file writes it. */
function stateOf(content: Buffer, id: string, number: number): string {
  const { line, state } = Object(JSON.parse(content.toString()))
  if (!isObject(line) || !isObject(state)) throw new TypeError('Expected the state of a conversation')
  const time = formatMicros(firstMicros + number * 60e6)
  const text = JSON.stringify({ ...state, id, created_at: time, updated_at: time })
  return `${JSON.stringify({ line, check: hashOf(String(line['hash']), Buffer.from(text)) }).slice(0, -1)},"state":${text}}\n`
}
