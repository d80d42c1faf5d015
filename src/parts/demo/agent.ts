/**
 * The demonstration agent: responds to requests of the Agent Client Protocol (ACP), version 1.
 *
 * The agent follows a script (script.ts) and calls no model. A process has up to `sessionLimit` sessions. A session
 * runs one prompt at a time.
 */
import { isAbsolute } from 'node:path'
import { isObject } from '../../base/json.ts'
import { RpcError } from '../../rpc/errors.ts'
import { rpcCodes } from '../../rpc/message.ts'
import { RpcPeer, type Framing, type IncomingCall } from '../../rpc/peer.ts'
import type { RunCommand } from './command.ts'
import { demoAgentName, isMode, modes, type Mode } from '../../agents/acp/session/demo-modes.ts'
import { runPrompt } from './script.ts'

export interface DemoAgentOptions {
  readonly framing: Framing
  readonly version: string
  readonly runCommand: RunCommand
  /** The pause after each piece of text, so that the text grows visibly. */
  readonly paceMs: number
  /** The most sessions that the agent makes. Default 100. */
  readonly sessionLimit?: number
  /** The prefix of session ids, which differs in each process. */
  readonly idPrefix: string
  /** Called when the connection has ended. */
  readonly onClosed: () => void
}

interface Session {
  readonly id: string
  readonly cwd: string
  mode: Mode
  /** The number of the session's tool calls so far. */
  calls: number
  running: AbortController | undefined
}

export function createDemoAgent(options: DemoAgentOptions): RpcPeer {
  const sessions = new Map<string, Session>()
  const peer = new RpcPeer({
    framing: options.framing,
    cancelMethod: '$/cancel_request',
    onRequest: ({ method, params }) => answer(method, params),
    onNotification: (call) => cancel(sessions, call),
    onClosed: () => {
      for (const session of sessions.values()) session.running?.abort()
      options.onClosed()
    },
  })

  function answer(method: string, params: unknown): unknown {
    switch (method) {
      case 'initialize': return initializeResult(options.version)
      case 'authenticate': return {}
      case 'session/new': return newSession(sessions, params, options)
      case 'session/set_mode': return setMode(peer, findSession(sessions, params), params)
      case 'session/prompt': return prompt(findSession(sessions, params), params)
      default: throw new RpcError({ code: rpcCodes.methodNotFound, message: `Unknown method: ${method}` })
    }
  }

  async function prompt(session: Session, params: unknown): Promise<unknown> {
    if (session.running !== undefined) throw invalid('A prompt is running in this session')
    const running = new AbortController()
    session.running = running
    try {
      const turn = { peer, session, signal: running.signal, runCommand: options.runCommand, paceMs: options.paceMs }
      return { stopReason: await runPrompt(turn, promptTexts(params)) }
    } finally {
      session.running = undefined
    }
  }

  return peer
}

function initializeResult(version: string): object {
  return {
    protocolVersion: 1,
    agentInfo: { name: demoAgentName, title: 'Demonstration agent (a script, not an AI)', version },
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { image: false, audio: false, embeddedContext: false },
    },
    authMethods: [],
  }
}

function newSession(
  sessions: Map<string, Session>, params: unknown, { idPrefix, sessionLimit = 100 }: DemoAgentOptions,
): object {
  const cwd = isObject(params) ? params['cwd'] : undefined
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
    throw invalid('Cannot make a session: "cwd" must be an absolute path')
  }
  if (sessions.size >= sessionLimit) throw invalid(`Cannot make a session: there are ${sessionLimit} already`)
  const session: Session = { id: `${idPrefix}-${sessions.size + 1}`, cwd, mode: 'ask', calls: 0, running: undefined }
  sessions.set(session.id, session)
  return { sessionId: session.id, modes: { currentModeId: session.mode, availableModes: modes } }
}

function setMode(peer: RpcPeer, session: Session, params: unknown): object {
  const mode = isObject(params) ? params['modeId'] : undefined
  if (!isMode(mode)) throw invalid(`Unknown mode: ${JSON.stringify(mode)}`)
  session.mode = mode
  const update = { sessionUpdate: 'current_mode_update', currentModeId: mode }
  void peer.notify('session/update', { sessionId: session.id, update })
  return {}
}

function cancel(sessions: Map<string, Session>, { method, params }: IncomingCall): void {
  if (method !== 'session/cancel' || !isObject(params)) return
  if (typeof params['sessionId'] === 'string') sessions.get(params['sessionId'])?.running?.abort()
}

function findSession(sessions: Map<string, Session>, params: unknown): Session {
  const id = isObject(params) ? params['sessionId'] : undefined
  const session = typeof id === 'string' ? sessions.get(id) : undefined
  // -32002 is ACP's code for a resource that does not exist.
  if (session === undefined) throw new RpcError({ code: -32002, message: `No such session: ${JSON.stringify(id)}` })
  return session
}

/** Returns the member `text` of each block of a prompt. Blocks without a text are ignored. */
function promptTexts(params: unknown): readonly string[] {
  const blocks = isObject(params) && Array.isArray(params['prompt']) ? params['prompt'] : []
  return blocks.flatMap((block: unknown) => {
    return isObject(block) && typeof block['text'] === 'string' ? [block['text']] : []
  })
}

function invalid(message: string): RpcError {
  return new RpcError({ code: rpcCodes.invalidParams, message })
}
