/**
 * An external agent that does nothing but talk: after a prompt it sends so many updates, each with the time at which it
 * was written, one every two milliseconds.
 *
 * The prompt says what and how many: `delta 200`, `tool 200`. Of tool calls every line becomes one event: a call that runs
 * is an action, the next line its end and an observation. The time is that of the machine's monotonic clock, in
 * nanoseconds, which all its programs share.
 */
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, parseJson } from '../../src/base/json.ts'

const pauseMs = 2
const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(4)
let calls = 0

for await (const line of createInterface({ input: process.stdin })) {
  const message = parseJson(line)
  if (isObject(message) && message['id'] !== undefined) await reply(message)
}

async function reply({ id, method, params }: Record<string, unknown>): Promise<void> {
  switch (method) {
    case 'initialize':
      return send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
    case 'session/prompt': {
      const [, kind, count] = /(delta|tool) (\d+)/.exec(JSON.stringify(params)) ?? []
      for (let number = 0; number < Number(count); number++) {
        sendUpdate(kind === 'tool' ? toolUpdate(number) : textChunk())
        await sleep(pauseMs)
      }
      return send({ id, result: { stopReason: 'end_turn' } })
    }
    default:
      return send({ id, result: { sessionId: 'bench' } })
  }
}

function textChunk(): object {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `${stamp()} ${filler}` } }
}

function toolUpdate(number: number): object {
  return number % 2 === 0 ? toolCall() : toolEnd()
}

function toolCall(): object {
  const [toolCallId, title] = [`call-${++calls}`, stamp()]
  return { sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress', rawInput: { text: filler } }
}

function toolEnd(): object {
  const content = [{ type: 'content', content: { type: 'text', text: `${stamp()} ${filler}` } }]
  return { sessionUpdate: 'tool_call_update', toolCallId: `call-${calls}`, status: 'completed', content }
}

function stamp(): string {
  return `at<${process.hrtime.bigint()}>`
}

function sendUpdate(update: object): void {
  send({ method: 'session/update', params: { sessionId: 'bench', update } })
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
