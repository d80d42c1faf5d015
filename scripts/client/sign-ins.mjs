/** What a client asks when a user wants an MCP server that he has to sign in to. */
import { clients, fails, options, protectedServer } from './connection.mjs'
import { equal, step } from './steps.mjs'

const mcp = new clients.MCPClient(options)
const name = 'protected'

export async function signIn() {
  let job = ''
  let address = ''
  let state
  await step('MCPClient.testServer: nobody is signed in', async () => {
    const { ok, error_kind } = await mcp.testServer({ name, server: protectedServer })
    equal([ok, error_kind], [false, 'connection'])
  })
  await step('MCPClient.startOAuth', async () => {
    const { ok, job_id, authorization_url } = await mcp.startOAuth({ name, server: protectedServer })
    const { headers } = await fetch(authorization_url, { redirect: 'manual' })
    job = job_id
    address = headers.get('location')
    equal([ok, address.startsWith(`${options.host}/api/mcp/oauth/callback?`)], [true, true])
  })
  await step('MCPClient.getOAuthStatus', async () => {
    const { status, callback_ready } = await mcp.getOAuthStatus(job)
    equal([status, callback_ready], ['authorizing', true])
  })
  await step('MCPClient.submitOAuthCallback: a wrong address', () => {
    return fails(() => mcp.submitOAuthCallback(job, { callback_url: 'https://x' }), 400)
  })
  await step('MCPClient.submitOAuthCallback', async () => {
    await mcp.submitOAuthCallback(job, { callback_url: address })
    let found = await mcp.getOAuthStatus(job)
    while (found.status === 'authorizing') {
      await new Promise((resolve) => setTimeout(resolve, 50))
      found = await mcp.getOAuthStatus(job)
    }
    equal([found.status, found.tools.includes('echo')], ['succeeded', true])
    state = found.oauth_state
  })
  await step('MCPClient.testServer: with the state, under another name', async () => {
    const server = { ...protectedServer, auth: { strategy: 'oauth2', state } }
    const { ok, tools } = await mcp.testServer({ name: 'other', server })
    equal([ok, tools.includes('echo')], [true, true])
  })
  await step('MCPClient.getOAuthStatus: an unknown job', () => fails(() => mcp.getOAuthStatus('none'), 404))
}
