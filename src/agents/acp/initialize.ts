/**
 * Sends the first request to an agent: ACP `initialize`, version 1. No file system and no terminal are offered
 * (sessions.md, "Beginning").
 */
import { AcpFailure } from './failure.ts'
import { memberAt } from '../../base/fields.ts'

type Request = (method: string, params: object) => Promise<unknown>

/**
 * Sends `initialize` and returns the result. `version` is the version of this server.
 * @throws AcpFailure `ACPInitError` when the agent speaks another protocol version, and the errors of the request.
 */
export async function initialize(request: Request, version: string): Promise<unknown> {
  const result = await request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'agent-server', title: 'Agent Server', version },
  })
  const spoken = memberAt(result, 'protocolVersion')
  if (spoken === 1) return result
  throw new AcpFailure('ACPInitError', `The agent speaks version ${JSON.stringify(spoken)} of ACP, expected 1`)
}
