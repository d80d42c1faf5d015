/**
 * A model for measuring, as a child: it reads a file at every step, for as many steps as its script says, then says that
 * it is done.
 *
 * It speaks the stream of Anthropic's Messages API and that of OpenAI Chat Completions, and looks at nothing of a request
 * but the path, whose first part names the conversation: so an answer takes the same time however long the request is. It
 * can hold an answer back, so that the server can be looked at while it waits between two steps.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isObject } from '../../src/base/json.ts'
import { answer, portOf } from './child.ts'

/** What is left of the steps of a conversation, and who waits for one of them. */
interface Script {
  readonly steps: number
  asked: number
  requestBytes: number
  /** The request with this number is told of and held back. */
  stopAt: number
  reached: () => void
  release: () => void
}

const files = 10
const say = 'I look at the next part of it, to see who calls the parser and what they expect of it. '.repeat(2)
const scripts = new Map<string, Script>()

const server = createServer((request, response) => void reply(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    script: (argument) => {
      const { name, steps } = read(argument)
      scripts.set(name, { steps, asked: 0, requestBytes: 0, stopAt: 1, reached: ignore, release: ignore })
    },
    /** Lets go what is held back, and answers when every request for this step has come as a whole, with their sizes. */
    until: (argument) => {
      const { names, step } = read(argument)
      return Promise.all(names.map((name) => goOn(scriptOf(name), step)))
    },
    end: (argument) => {
      const { name } = read(argument)
      scriptOf(name).release()
      scripts.delete(name)
    },
  },
  () => {
    server.close()
    server.closeAllConnections()
  },
)

function goOn(script: Script, step: number): Promise<number> {
  if (script.asked === step) return Promise.resolve(script.requestBytes)
  const reached = new Promise<number>((resolve) => (script.reached = () => resolve(script.requestBytes)))
  script.stopAt = step
  script.release()
  return reached
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let bytes = 0
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(request, 'end')
  const [, name = '', ...path] = (request.url ?? '').split('/')
  const script = scriptOf(name)
  script.asked++
  script.requestBytes = bytes
  if (script.asked === script.stopAt) {
    const released = new Promise<void>((resolve) => (script.release = resolve))
    script.reached()
    await released
  }
  const events = path.at(-1) === 'messages' ? anthropicEvents(script) : chatEvents(script)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

function callOf({ asked, steps }: Script): { readonly id: string; readonly args: string } | undefined {
  return asked > steps ? undefined : { id: `call_${asked}`, args: JSON.stringify({ file_path: `file-${asked % files}.txt` }) }
}

function anthropicEvents(script: Script): object[] {
  const call = callOf(script)
  const usage = { input_tokens: 1000, output_tokens: 100 }
  const message = { id: `msg_${script.asked}`, type: 'message', role: 'assistant', model: 'bench', content: [], usage }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: say } },
    { type: 'content_block_stop', index: 0 },
    ...(call === undefined ? [] : [
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: call.id, name: 'read_file', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: call.args } },
      { type: 'content_block_stop', index: 1 },
    ]),
    { type: 'message_delta', delta: { stop_reason: call === undefined ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ]
}

function chatEvents(script: Script): object[] {
  const call = callOf(script)
  const chunk = { id: `chat_${script.asked}`, object: 'chat.completion.chunk', model: 'bench' }
  const calls = call && [{ index: 0, id: call.id, type: 'function', function: { name: 'read_file', arguments: call.args } }]
  return [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: say, ...(calls && { tool_calls: calls }) } }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: call === undefined ? 'stop' : 'tool_calls' }] },
    { ...chunk, choices: [], usage: { prompt_tokens: 1000, completion_tokens: 100 } },
  ]
}

function scriptOf(name: string): Script {
  const script = scripts.get(name)
  if (script === undefined) throw new RangeError(`There is no script for "${name}"`)
  return script
}

function read(argument: unknown): { readonly name: string; readonly names: string[]; readonly steps: number; readonly step: number } {
  const { name, names, steps, step } = isObject(argument) ? argument : {}
  return { name: String(name), names: Array.isArray(names) ? names.map(String) : [], steps: Number(steps), step: Number(step) }
}

function ignore(): void {}
