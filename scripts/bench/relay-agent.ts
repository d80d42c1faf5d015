/**
 * An external agent that does nothing but talk: after a prompt it sends updates that carry the time of their writing.
 *
 * The prompt names the kind and the number of updates. `delta 200` and `tool 200` send one update every two
 * milliseconds; each `tool` update becomes one event, an action or its observation. `paced 100` sends 25 times a second
 * a piece of text, a tool call and its result, as a busy agent does. Times are of the machine's monotonic clock, in
 * nanoseconds: all programs of the machine share it.
 */
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, parseJson } from '../../src/base/json.ts'

const pauseMs = 2
const pacedPauseMs = 40
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
      const [, kind, count] = /(delta|tool|paced) (\d+)/.exec(JSON.stringify(params)) ?? []
      if (kind === 'paced') await talkPaced(Number(count))
      else await talk(Number(count), kind === 'tool' ? toolUpdate : textChunk)
      return send({ id, result: { stopReason: 'end_turn' } })
    }
    default:
      return send({ id, result: { sessionId: 'bench' } })
  }
}

async function talk(count: number, update: (number: number) => object): Promise<void> {
  for (let number = 0; number < count; number++) {
    sendUpdate(update(number))
    await sleep(pauseMs)
  }
}

/** Agents do not move in step, so each begins somewhere in its first pause. */
async function talkPaced(count: number): Promise<void> {
  const begin = performance.now() + Math.random() * pacedPauseMs
  for (let number = 0; number < count; number++) {
    await sleep(Math.max(0, begin + number * pacedPauseMs - performance.now()))
    for (const update of [textChunk(), toolCall(), toolEnd()]) sendUpdate(update)
  }
}

function textChunk(): object {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `delta ${stamp()} ${filler}` } }
}

function toolUpdate(number: number): object {
  return number % 2 === 0 ? toolCall() : toolEnd()
}

function toolCall(): object {
  const [toolCallId, title] = [`call-${++calls}`, stamp()]
  return { sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress', rawInput: { text: filler } }
}

function toolEnd(): object {
  const content = [{ type: 'content', content: { type: 'text', text: `result ${stamp()} ${filler}` } }]
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
