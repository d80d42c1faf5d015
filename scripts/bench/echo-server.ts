/**
 * WebSockets that send every text back, as a child.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Departure } from '../../src/ws/departure.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'
import { answer, portOf } from './child.ts'

const departure = new Departure()
const server = createServer()
server.on('upgrade', (request, socket, head) => {
  const upgrade = acceptUpgrade(request, socket, head, { departure })
  if (!upgrade.ok) return
  const { connection } = upgrade
  connection.owner = {
    onMessage(message) {
      if (message.kind === 'text') connection.sendText(message.text)
    },
  }
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer({ port: () => portOf(server) }, () => process.exit())
