/**
 * The limit of a conversation with an agent, as a child: a client's request is written, synced and passed to the agent
 * unchanged, and each line of the agent goes to every socket.
 *
 * The body of a request is the line for the agent. A line of the agent that is no piece of text is written and synced
 * before it goes on. Nothing is parsed, checked, masked or framed. The argument is the folder of the agent's pipes.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { pipedAgent } from '../piped-agent.ts'
import { BareFeed } from './bare-feed.ts'

const [, , pipes = ''] = process.argv
const feed = await BareFeed.open()
const [command, ...args] = pipedAgent(pipes, 0)
const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })

createInterface({ input: agent.stdout }).on('line', (line) => void relay(line))

const server = createServer(async (request, response) => {
  const line = Buffer.concat(await request.toArray())
  await feed.keep(line)
  agent.stdin.write(Buffer.concat([line, Buffer.from('\n')]))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end('{}')
})
await feed.serve(server, () => void agent.kill())

async function relay(line: string): Promise<void> {
  if (!line.includes('"agent_message_chunk"')) await feed.keep(Buffer.from(line))
  feed.publish(`${line}\n`)
}
