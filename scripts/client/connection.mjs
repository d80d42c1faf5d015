/**
 * The published client, loaded from the folder where it is installed, and what every part of the check needs of it.
 *
 * Plain JavaScript, since the client is no dependency of this project: neither its code nor its types are known here.
 * Arguments of the program: that folder, the server's address, the key, a folder for workspaces, an MCP server behind
 * OAuth, a stand-in for a model.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { equal } from './steps.mjs'

const [folder, host, apiKey, workspaces, mcpUrl, model] = process.argv.slice(2)
// The client's sockets call a bare `require('ws')`, which an ES module does not have.
globalThis.require = createRequire(join(folder, 'package.json'))
const load = (name) => import(pathToFileURL(globalThis.require.resolve(name)).href)

export const client = await load('@openhands/typescript-client')
export const clients = await load('@openhands/typescript-client/clients')
export const options = { host, apiKey }
export const modelUrl = model
export const protectedServer = { type: 'http', url: mcpUrl, auth: { strategy: 'oauth2' } }
export const demoAgent = { kind: 'ACPAgent', acp_server: 'custom', acp_command: ['agent-server-demo-agent'] }

export function workspace(name) {
  return join(workspaces, name)
}

/** The client turns every answer outside 2xx into an HttpError. */
export async function fails(ask, status, body) {
  const succeeded = (value) => new Error(`got ${JSON.stringify(value)}, expected the status ${status}`)
  const error = await ask().then(succeeded, (thrown) => thrown)
  if (!(error instanceof client.HttpError)) throw error
  equal(error.status, status)
  if (body !== undefined) equal(error.response, body)
}
