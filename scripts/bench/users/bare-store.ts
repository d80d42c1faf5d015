/**
 * The least work of a request that is stored durably and answered, as a child: node:http and the fewest calls that
 * survive a loss of power.
 *
 * `POST /create` makes a folder with one file of the request in it, both synced. `PATCH /settings` merges the request
 * into the settings and puts a new file in the place of the old one (rename(2)). Nothing is checked or looked up.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answer, portOf } from '../child.ts'

const folder = await mkdtemp(join(tmpdir(), 'bench-store-'))
let settings: object = {}

const server = createServer(async (request, response) => {
  const sent: object = Object(JSON.parse(Buffer.concat(await request.toArray()).toString()))
  const kept = request.url === '/create' ? await create(sent) : await change(sent)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(kept))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
answer({ port: () => portOf(server) }, async () => {
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
})

async function create(sent: object): Promise<object> {
  const conversation = { ...sent, id: randomUUID() }
  const own = join(folder, conversation.id)
  await mkdir(own)
  await write(join(own, 'state.json'), conversation)
  await sync(own)
  await sync(folder)
  return conversation
}

async function change(sent: object): Promise<object> {
  settings = { ...settings, ...sent }
  const path = join(folder, 'settings.json')
  await write(`${path}.new`, settings)
  await rename(`${path}.new`, path)
  await sync(folder)
  return settings
}

async function write(path: string, value: object): Promise<void> {
  const file = await open(path, 'w')
  await file.writeFile(JSON.stringify(value))
  await file.datasync()
  await file.close()
}

async function sync(path: string): Promise<void> {
  const file = await open(path)
  await file.sync()
  await file.close()
}
