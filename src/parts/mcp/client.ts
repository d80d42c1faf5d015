/**
 * The client side of one MCP session: the handshake, the list of tools, and calls (MCP 2025-06-18: lifecycle,
 * server/tools, and the utilities cancellation, ping and progress).
 *
 * The client offers no capabilities. Data from the server is untrusted, so lists and pages have limits.
 */
import { deferred, untilAborted } from '../../base/wait.ts'
import { AppError, messageOf } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { RpcClosedError, RpcError, RpcLimitError, RpcTimeoutError } from '../../rpc/errors.ts'
import { rpcCodes } from '../../rpc/message.ts'
import { RpcPeer, type IncomingCall, type IncomingRequest } from '../../rpc/peer.ts'
import { isMcpTool, type McpTool } from '../../schema/generated/tools.ts'
import { memberAt, objectOf, objectsOf, textOf, type Fields } from '../../base/fields.ts'
import type { Transport } from './transport.ts'

export interface McpClientOptions {
  readonly transport: Transport
  /** The version of Agent Server, for `clientInfo`. */
  readonly version: string
  /** Called when the server announces that its list of tools has changed. */
  readonly onToolsChanged: () => void
  /** Called with a short text, for the server log, about a message that is invalid, unexpected or not handled. */
  readonly onNoise: (excerpt: string) => void
}

export interface McpCall {
  readonly name: string
  readonly args: object
  readonly signal: AbortSignal
  /** The longest time, in milliseconds, until the result or the next report of progress. */
  readonly silenceMs: number
}

/** The version of MCP that the client asks for. The client accepts all `versions`. */
const askedVersion = '2025-06-18'
const versions: ReadonlySet<string> = new Set([askedVersion, '2025-11-25', '2025-03-26', '2024-11-05'])

const requestTimeoutMs = 60_000
const longestCallMs = 3_600_000
const pageLimit = 100
/** The longest list of tools, in characters of JSON. */
const listLimitChars = 1_000_000

/** Opens a session. If it fails, closes the transport. @throws AppError, the errors of RpcPeer, the signal's reason */
export async function openClient(options: McpClientOptions, signal: AbortSignal): Promise<McpClient> {
  const client = new McpClient(options)
  try {
    await client.initialize(signal)
    return client
  } catch (error) {
    const reason = signal.aborted ? signal.reason : await client.explain(error)
    await client.close()
    throw reason
  }
}

export class McpClient {
  readonly #transport: Transport
  readonly #options: McpClientOptions
  readonly #peer: RpcPeer
  readonly #ended = deferred<string>()
  /** By the progress token of a tool call, the function to call when the server reports progress of the call. */
  readonly #heard = new Map<unknown, () => void>()
  #hasTools = false
  #isOver = false
  #calls = 0

  /** For `openClient` only. */
  constructor(options: McpClientOptions) {
    const { transport, onNoise } = options
    this.#options = options
    this.#transport = transport
    this.#peer = new RpcPeer({
      framing: transport.framing,
      cancelMethod: 'notifications/cancelled',
      timeoutMs: requestTimeoutMs,
      onRequest: answerTo,
      onNotification: (call) => this.#hear(call),
      onInvalid: (what) => onNoise(`a broken message: ${what}`),
      onNoise,
      onClosed: (error) => void this.#end(error),
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves with the reason when the connection has ended, unless `close` ended it. Never rejects. */
  get over(): Promise<string> {
    return this.#ended.promise
  }

  /**
   * Sends `initialize` and checks the protocol version in the result. An abort does not cancel the request, because MCP
   * forbids to cancel `initialize`.
   * @throws AppError, for example `upstream_failed` for an unknown version; the errors of RpcPeer; the signal's reason
   */
  async initialize(signal: AbortSignal): Promise<void> {
    const clientInfo = { name: 'agent-server', version: this.#options.version }
    const params = { protocolVersion: askedVersion, capabilities: {}, clientInfo }
    const result = objectOf(
      await untilAborted(this.#peer.request('initialize', params, { timeoutMs: Infinity }), signal),
    )
    const version = textOf(result['protocolVersion']) ?? 'none'
    if (!versions.has(version)) {
      throw new AppError(
        'upstream_failed',
        `The server speaks version "${version.slice(0, 50)}" of the protocol, ` +
        `expected one of ${[...versions].join(', ')}`,
      )
    }
    this.#hasTools = isObject(memberAt(result, 'capabilities', 'tools'))
    this.#transport.agree(version)
    await untilAborted(this.#peer.notify('notifications/initialized', {}), signal)
  }

  /**
   * Returns the valid tools of all pages; empty if the server offers no tools.
   * @throws RpcError, AppError, RpcTimeoutError, RpcClosedError, or the signal's reason
   */
  async listTools(signal: AbortSignal): Promise<readonly McpTool[]> {
    const tools: McpTool[] = []
    if (!this.#hasTools) return tools
    let cursor: string | undefined
    let chars = 0
    for (let page = 0; page < pageLimit; page++) {
      const result = objectOf(
        await this.#peer.request('tools/list', cursor === undefined ? {} : { cursor }, { signal }),
      )
      tools.push(...objectsOf(result['tools']).filter(isMcpTool))
      cursor = textOf(result['nextCursor'])
      chars += JSON.stringify(result).length
      if (chars > listLimitChars) {
        throw new AppError(
          'upstream_failed', `The server describes its tools in more than ${listLimitChars} characters`,
        )
      }
      if (cursor === undefined) return tools
    }
    throw new AppError('upstream_failed', `The server lists its tools on more than ${pageLimit} pages`)
  }

  /**
   * Calls a tool and returns the raw result.
   * @throws RpcError, RpcTimeoutError, RpcClosedError, AppError, or the signal's reason
   */
  async callTool({ name, args, signal, silenceMs }: McpCall): Promise<Fields> {
    const progressToken = ++this.#calls
    signal.throwIfAborted()
    const end = new AbortController()
    const onAbort = (): void => end.abort(signal.reason)
    const timer = setTimeout(
      () => end.abort(new RpcTimeoutError(`No word of the call within ${silenceMs} ms`)), silenceMs,
    )
    signal.addEventListener('abort', onAbort, { once: true })
    this.#heard.set(progressToken, () => timer.refresh())
    const limits = { signal: end.signal, timeoutMs: longestCallMs }
    try {
      return objectOf(
        await this.#peer.request('tools/call', { name, arguments: args, _meta: { progressToken } }, limits),
      )
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      this.#heard.delete(progressToken)
    }
  }

  /** Turns an RpcClosedError into an AppError, with the reason of the end if it is known. Leaves other errors as is. */
  async explain(error: unknown): Promise<unknown> {
    if (!(error instanceof RpcClosedError)) return error
    return new AppError('upstream_failed', (await this.#wordsOfEnd(error.cause)) ?? error.message, {
      cause: error.cause,
    })
  }

  /** Ends the session. Idempotent. @throws AppError when a program could not be ended */
  async close(): Promise<void> {
    this.#isOver = true
    this.#peer.close()
    await this.#transport.close()
  }

  async #end(error: Error | undefined): Promise<void> {
    this.#isOver = true
    this.#ended.resolve((await this.#wordsOfEnd(error)) ?? 'The server ended the connection')
  }

  /** Returns why the connection ended: an exceeded limit, else the transport's reason, else `cause`, if any. */
  async #wordsOfEnd(cause: unknown): Promise<string | undefined> {
    if (cause instanceof RpcLimitError) return cause.message
    return (await this.#transport.reasonOfEnd()) ?? (cause === undefined ? undefined : messageOf(cause))
  }

  #hear({ method, params }: IncomingCall): void {
    if (method === 'notifications/tools/list_changed') this.#options.onToolsChanged()
    if (method === 'notifications/progress') this.#heard.get(objectOf(params)['progressToken'])?.()
  }
}

function answerTo({ method }: IncomingRequest): unknown {
  if (method === 'ping') return {}
  throw new RpcError({ code: rpcCodes.methodNotFound, message: 'Method not found' })
}
