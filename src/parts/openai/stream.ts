/**
 * Streams an answer as server-sent events, while the agent writes it.
 *
 * A blank line separates two texts of the agent. A client that does not read is disconnected.
 */
import type { ServerResponse } from 'node:http'
import { isObject, parseOwnJson, type JsonObject } from '../../base/json.ts'
import { memberAt, objectOf, textOf } from '../../base/fields.ts'
import type { Sink } from '../../conversation/log/feed.ts'
import { errorForm } from './errors.ts'

export interface StreamOptions {
  readonly id: string
  readonly model: string
  /** The time of the request, in seconds since 1970. */
  readonly created: number
  /** The interval of a check: a client with a full buffer that took no byte since the check before is disconnected. */
  readonly stallTimeoutMs: number
}

/** The interval between the comments of the SSE stream, which keep an idle connection open. */
const heartbeatMs = 15_000
/** The most bytes that may be buffered for a client. A client with more buffered bytes is disconnected. */
const backlogLimitBytes = 16 * 1024 * 1024

export class CompletionStream implements Sink {
  readonly #response: ServerResponse
  readonly #options: StreamOptions
  readonly #timers: readonly NodeJS.Timeout[]
  /** The beginning of the agent's current message, which `#delta` has already sent. */
  #open = ''
  /** True when a text has ended and no other text has begun. A blank line then goes before the next text. */
  #needsBreak = false
  #hasText = false
  #taken = -1

  constructor(response: ServerResponse, options: StreamOptions) {
    this.#response = response
    this.#options = options
    this.#timers = [
      setInterval(() => this.#send(':\n\n'), heartbeatMs),
      setInterval(() => this.#watchStall(), options.stallTimeoutMs),
    ]
    this.#chunk({ role: 'assistant', content: '' })
  }

  /** Sends the texts of a delta, and the agent's text in a message or FinishAction. Always takes the event (true). */
  write(json: Buffer): boolean {
    if (begins(json, 'StreamingDeltaEvent')) this.#delta(objectOf(parseOwnJson(json.toString())))
    else if (begins(json, 'MessageEvent')) this.#message(objectOf(parseOwnJson(json.toString())))
    else if (begins(json, 'ActionEvent')) this.#action(json)
    return true
  }

  /** Called when the conversation sends no more events. Does nothing: `follow` in routes.ts ends the answer later. */
  end(): void {}

  /** Ends the answer. Sends `text`, the final response, if no text was sent before. */
  finish(text: string, usage: JsonObject | undefined): void {
    if (!this.#hasText) this.#text(text)
    this.#chunk({}, 'stop')
    if (usage !== undefined) this.#event({ ...this.#head(), choices: [], usage })
    this.#send('data: [DONE]\n\n')
    this.close()
  }

  /** Sends an error and ends the response. */
  fail(status: number, message: string): void {
    this.#event(errorForm(status, message).body)
    this.close()
  }

  /** Ends the response. Idempotent. */
  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#response.end()
  }

  #delta(frame: Readonly<Record<string, unknown>>): void {
    const [content, reasoning] = [textOf(frame['content']), textOf(frame['reasoning_content'])]
    if (reasoning !== undefined) this.#chunk({ reasoning_content: reasoning })
    if (content === undefined) return
    this.#text(content)
    this.#open += content
  }

  #message(event: Readonly<Record<string, unknown>>): void {
    if (event['source'] !== 'agent') return
    const content = memberAt(event, 'llm_message', 'content')
    const text = Array.isArray(content) ? content.map((part) => textOf(objectOf(part)['text']) ?? '').join('') : ''
    if (text.startsWith(this.#open)) this.#text(text.slice(this.#open.length))
    this.#endText()
  }

  #action(json: Buffer): void {
    this.#endText()
    // Of all actions, only a FinishAction has text for the client. Most others fail this test and are not parsed.
    if (!json.includes('"kind":"FinishAction"')) return
    const { action } = objectOf(parseOwnJson(json.toString()))
    if (!isObject(action) || action['kind'] !== 'FinishAction') return
    this.#text(textOf(action['message']) ?? '')
    this.#endText()
  }

  #text(text: string): void {
    if (text === '') return
    this.#chunk({ content: this.#needsBreak ? `\n\n${text}` : text })
    this.#needsBreak = false
    this.#hasText = true
  }

  #endText(): void {
    this.#open = ''
    this.#needsBreak = this.#hasText
  }

  #chunk(delta: JsonObject, finishReason: 'stop' | null = null): void {
    this.#event({ ...this.#head(), choices: [{ index: 0, delta, finish_reason: finishReason }] })
  }

  #head(): JsonObject {
    const { id, model, created } = this.#options
    return { id, object: 'chat.completion.chunk', created, model }
  }

  #event(value: unknown): void {
    this.#send(`data: ${JSON.stringify(value)}\n\n`)
  }

  #send(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return
    this.#response.write(text)
    if (this.#response.writableLength > backlogLimitBytes) this.#response.destroy()
  }

  #watchStall(): void {
    const { socket, writableNeedDrain } = this.#response
    const taken = socket === null ? 0 : socket.bytesWritten - socket.writableLength
    if (writableNeedDrain && taken === this.#taken) this.#response.destroy()
    this.#taken = taken
  }
}

/** True when the JSON of an event or delta has this kind. The first member of such JSON is always `kind`. */
function begins(json: Buffer, kind: string): boolean {
  return json.toString('latin1', 0, kind.length + 10) === `{"kind":"${kind}"`
}
