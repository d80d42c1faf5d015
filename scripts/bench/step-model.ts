/**
 * A model for measuring, as a child: it reads a file at every step, for as many steps as its script says, then says
 * that it is done.
 *
 * It speaks the stream of Anthropic's Messages API, and looks at nothing of a request but the first part of its path,
 * which names the conversation: so an answer takes the same time however long the request is. It holds an answer back
 * when it is told to, and thinks for as long as its script says. A request for no known conversation gets the last
 * answer of one.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../src/base/json.ts'
import { answer, portOf } from './child.ts'

interface Script {
  readonly steps: number
  /** How long it thinks before it answers. */
  readonly delayMs: number
  /** Requests so far. */
  asked: number
  /** Of the newest request. */
  bytes: number
  /** The answer to the request with this number is held back. */
  stopAt: number
  reached: () => void
  release: () => void
}

const files = 10
const text = 'I look at the next part of it, to see who calls the parser and what they expect of it. '.repeat(2)
const usage = { input_tokens: 1000, output_tokens: 100 }
const scripts = new Map<string, Script>()

const server = createServer((request, response) => void reply(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    script: (argument) =>
      void scripts.set(nameOf(argument), newScript(numberOf(argument, 'steps'), numberOf(argument, 'delayMs'))),
    until: (argument) => Promise.all(namesOf(argument).map((name) => goOn(name, numberOf(argument, 'step')))),
    forget(argument) {
      scripts.get(nameOf(argument))?.release()
      scripts.delete(nameOf(argument))
    },
  },
  () => {
    server.close()
    server.closeAllConnections()
  },
)

function newScript(steps: number, delayMs: number): Script {
  return { steps, delayMs, asked: 0, bytes: 0, stopAt: 1, reached: () => undefined, release: () => undefined }
}

/**
 * Releases the answer that is held back, and resolves with the size of the request for this step when all of it has
 * come.
 */
function goOn(name: string, step: number): Promise<number> {
  const script = scripts.get(name)
  if (script === undefined) throw new RangeError(`There is no script for "${name}"`)
  if (script.asked === step) return Promise.resolve(script.bytes)
  const reached = new Promise<number>((resolve) => (script.reached = () => resolve(script.bytes)))
  script.stopAt = step
  script.release()
  return reached
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const script = scripts.get(request.url?.split('/')[1] ?? '') ?? newScript(0, 0)
  let bytes = 0
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(request, 'end')
  script.asked++
  script.bytes = bytes
  if (script.asked === script.stopAt && script.steps > 0) {
    const released = new Promise<void>((resolve) => (script.release = resolve))
    script.reached()
    await released
  }
  if (script.delayMs > 0) await sleep(script.delayMs)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(eventsOf(script).map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

function eventsOf({ asked, steps }: Script): object[] {
  const isLast = asked > steps
  const input = JSON.stringify({ file_path: `file-${asked % files}.txt` })
  const message = { id: `msg_${asked}`, type: 'message', role: 'assistant', model: 'bench', content: [], usage }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    ...(isLast ? [] : [
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: `call_${asked}`, name: 'read_file', input: {} },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: input } },
      { type: 'content_block_stop', index: 1 },
    ]),
    { type: 'message_delta', delta: { stop_reason: isLast ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ]
}

function member(argument: unknown, name: string): unknown {
  return isObject(argument) ? argument[name] : undefined
}

function nameOf(argument: unknown): string {
  return String(member(argument, 'name'))
}

function namesOf(argument: unknown): string[] {
  const names = member(argument, 'names')
  return Array.isArray(names) ? names.map(String) : []
}

function numberOf(argument: unknown, name: string): number {
  return Number(member(argument, name))
}
