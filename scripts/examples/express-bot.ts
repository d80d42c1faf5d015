/**
 * A bot in an Express server, with the agents' own interface mounted below /agents.
 *
 * `POST /ask` is the host's own route. Everything below /agents, WebSockets too, is the agent server's: give its
 * address to a console or to a client, with the session key. Run: SESSION_KEY=... node express-bot.ts FOLDER [PORT]
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import express from 'express'
import { Bot, openAgents } from './bot.ts'

const [folder = '/srv/bot', port = '0'] = process.argv.slice(2)
const agents = await openAgents(folder)
const bot = new Bot(agents)
const app = express()

// Before any body parser: the agent server reads the bodies of its requests itself.
app.use((request, response, next) => {
  if (request.url.startsWith('/agents/')) agents.handlers.request(request, response)
  else next()
})
app.post('/ask', express.json(), async (request, response) => {
  const { user, question } = request.body
  response.json({ answer: await bot.ask(String(user), String(question), AbortSignal.timeout(60_000)) })
})

const server = createServer(app)
server.on('upgrade', (request, socket, head) => {
  if (request.url?.startsWith('/agents/')) agents.handlers.upgrade(request, socket, head)
  else socket.destroy()
})
server.listen(Number(port), '127.0.0.1')
await once(server, 'listening')
console.log(`listening on ${JSON.stringify(server.address())}`)

// The agent server installs no handler of signals: the host decides when it ends.
process.once('SIGTERM', async () => {
  server.close()
  await agents.close()
  server.closeAllConnections()
})
