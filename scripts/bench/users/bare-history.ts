/**
 * The limit of reading a history, as a child: node:http over the file of its argument, which has an event in each line.
 *
 * `/end` opens the file and answers with its last 50 lines. `/at/N` answers with 50 lines from a list of offsets that
 * was made at the start. `/search` looks for a text in the whole file, block by block. Lines are joined into the list
 * of a page as they are; nothing is parsed.
 */
import { once } from 'node:events'
import { open, readFile, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:http'
import { answer, portOf } from '../child.ts'

const lineFeed = 0x0a
const page = 50
const endBytes = 128 * 1024
const blockBytes = 1024 * 1024

const [, , path = ''] = process.argv
const file = await open(path)
const offsets = await lineStarts()

const server = createServer(async (request, response) => {
  const [, way = '', argument = ''] = (request.url ?? '').split('/')
  const lines = way === 'end' ? await end() : way === 'at' ? await pageAt(Number(argument)) : await search(argument)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(`{"items":[${lines.join(',')}]}`)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
answer({ port: () => portOf(server) }, async () => {
  server.close()
  server.closeAllConnections()
  await file.close()
})

async function lineStarts(): Promise<number[]> {
  const bytes = await readFile(path)
  const starts = [0]
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) starts.push(at + 1)
  return starts
}

async function end(): Promise<string[]> {
  const own = await open(path)
  try {
    const { size } = await own.stat()
    return (await read(own, Math.max(0, size - endBytes), size)).split('\n').slice(-page - 1, -1)
  } finally {
    await own.close()
  }
}

async function pageAt(line: number): Promise<string[]> {
  return (await read(file, offsets[line] ?? 0, (offsets[line + page] ?? 0) - 1)).split('\n')
}

async function search(text: string): Promise<string[]> {
  const { size } = await file.stat()
  const found: string[] = []
  for (let from = 0; from < size; from += blockBytes) {
    const buffer = Buffer.allocUnsafe(Math.min(blockBytes, size - from))
    await file.read(buffer, 0, buffer.length, from)
    for (let at = buffer.indexOf(text); at !== -1; at = buffer.indexOf(text, at + 1)) found.push(String(from + at))
  }
  return found
}

async function read(from: FileHandle, begin: number, to: number): Promise<string> {
  const buffer = Buffer.allocUnsafe(to - begin)
  await from.read(buffer, 0, buffer.length, begin)
  return buffer.toString()
}
