/**
 * The same bot as in `express-bot.ts`, in a Fastify server. Run: SESSION_KEY=... node fastify-bot.ts FOLDER [PORT]
 *
 * Fastify reads bodies before its handlers run, so requests below /agents are passed on before Fastify sees them.
 */
import { createServer } from 'node:http'
import { fastify } from 'fastify'
import { Bot, openAgents } from './bot.ts'

const [folder = '/srv/bot', port = '0'] = process.argv.slice(2)
const agents = await openAgents(folder)
const bot = new Bot(agents)
const app = fastify({
  forceCloseConnections: true,
  serverFactory(handle) {
    const server = createServer((request, response) => {
      if (request.url?.startsWith('/agents/')) agents.handlers.request(request, response)
      else handle(request, response)
    })
    return server.on('upgrade', (request, socket, head) => {
      if (request.url?.startsWith('/agents/')) agents.handlers.upgrade(request, socket, head)
      else socket.destroy()
    })
  },
})
app.post<{ Body: { user: string, question: string } }>('/ask', async ({ body: { user, question } }) => {
  return { answer: await bot.ask(user, question, AbortSignal.timeout(60_000)) }
})
await app.listen({ port: Number(port), host: '127.0.0.1' })
console.log(`listening on ${JSON.stringify(app.server.address())}`)

process.once('SIGTERM', async () => {
  await agents.close()
  await app.close()
})
