/**
 * Sends the first request to an agent: ACP `initialize`, version 1. The request offers no file system and
 * no terminal (agents/acp/sessions.md, "Beginning").
 */
import { memberAt } from '../../../base/fields.ts'
import { AcpFailure } from './failure.ts'

type Request = (method: string, params: object) => Promise<unknown>

/**
 * Sends `initialize` with the version of this server and returns the result.
 * @throws AcpFailure `ACPInitError` for another protocol version; the errors of the request
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
