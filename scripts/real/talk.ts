/**
 * One conversation as a client has it: REST for its requests, the socket for the events.
 *
 * `until` reads on in the frames, so each one is looked at once and in order; it ends with an error that names the
 * awaited frame. `close` ends the socket; the conversation stays.
 */
import { deferred, within } from '../../src/base/wait.ts'
import { readEventSocket } from './event-socket.ts'
import { listAt, memberAt } from './member.ts'
import { callServer, patienceMs, type Server } from './rest.ts'

const ends = ['finished', 'paused', 'error', 'stuck']

export class Talk {
  readonly id: string
  readonly #server: Server
  readonly #frames: unknown[] = []
  readonly #end = new AbortController()
  readonly #ended: Promise<void>
  #next = 0
  #news = deferred<void>()

  constructor(server: Server, id: string) {
    this.#server = server
    this.id = id
    this.#ended = this.#read()
  }

  /** All frames so far, in order. */
  get frames(): readonly unknown[] {
    return this.#frames
  }

  /** Sends a message and has it served. */
  send(text: string): Promise<unknown> {
    return this.call('POST', '/events', { role: 'user', content: [{ type: 'text', text }], run: true })
  }

  answer(accept: boolean): Promise<unknown> {
    return this.call('POST', '/events/respond_to_confirmation', { accept, reason: 'Not now' })
  }

  call(method: string, path: string, body?: object): Promise<unknown> {
    return callServer(this.#server, method, `/api/conversations/${this.id}${path}`, body)
  }

  /** The stored history, from the first event on. */
  async events(): Promise<unknown[]> {
    const events: unknown[] = []
    let page = ''
    do {
      const found = await this.call('GET', `/events/search?limit=100${page}`)
      events.push(...listAt(found, 'items'))
      const next = memberAt(found, 'next_page_id')
      page = typeof next === 'string' ? `&page_id=${next}` : ''
    } while (page !== '')
    return events
  }

  async status(): Promise<unknown> {
    return memberAt(await this.call('GET', ''), 'execution_status')
  }

  /** The next frame that fits. */
  async until(what: string, fits: (frame: unknown) => boolean): Promise<unknown> {
    for (const end = Date.now() + patienceMs; Date.now() < end;) {
      while (this.#next < this.#frames.length) {
        const frame = this.#frames[this.#next++]
        if (fits(frame)) return frame
      }
      if (this.#end.signal.aborted) throw new Error(`The socket was closed before: ${what}`)
      await within(this.#news.promise, 1000)
    }
    throw new Error(`Not seen within ${patienceMs} ms: ${what}`)
  }

  /**
   * Waits until the run has ended, or the agent asks; gives the status. A question that waited for another one opens
   * without a change of the status.
   */
  async untilEnd(): Promise<unknown> {
    const frame = await this.until('the end of the run, or a question', (one) => {
      const value = memberAt(one, 'value')
      if (memberAt(one, 'key') === 'pending_confirmations') return Array.isArray(value) && value.length > 0
      return memberAt(one, 'key') === 'execution_status' && ends.includes(String(value))
    })
    return memberAt(frame, 'key') === 'execution_status' ? memberAt(frame, 'value') : 'waiting_for_confirmation'
  }

  /** Waits until the agent asks. */
  async untilQuestion(): Promise<void> {
    const status = await this.untilEnd()
    if (status !== 'waiting_for_confirmation') throw new Error(`The run ended as "${String(status)}" before a question`)
  }

  /** Answers every question in the same way until the run has ended; gives its status and the number of questions. */
  async settle(accept: boolean): Promise<{ status: unknown; questions: number }> {
    for (let questions = 0; ; questions++) {
      const status = await this.untilEnd()
      if (status !== 'waiting_for_confirmation') return { status, questions }
      await this.answer(accept)
    }
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#ended
  }

  async #read(): Promise<void> {
    const headers = { 'X-Session-API-Key': this.#server.key }
    const url = `${this.#server.url}/sockets/events/${this.id}`
    try {
      for await (const frame of readEventSocket({ url, headers, signal: this.#end.signal })) {
        this.#frames.push(frame)
        this.#news.resolve()
        this.#news = deferred()
      }
    } catch {
      // A socket that breaks ends like a closed socket: `until` names the frame that did not come.
    }
    this.#end.abort()
    this.#news.resolve()
  }
}
