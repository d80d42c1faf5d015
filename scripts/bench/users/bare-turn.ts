/**
 * The limit of a turn with a model, as a child: a message is written and synced, the model is asked, each piece of its
 * answer goes to every socket, and the whole answer is written and synced. The argument is the address of the model.
 */
import { createServer, request as ask } from 'node:http'
import { BareFeed } from './bare-feed.ts'

const [, , model = ''] = process.argv
const feed = await BareFeed.open()

const server = createServer(async (request, response) => {
  await feed.keep(Buffer.concat(await request.toArray()))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end('{}')
  ask(`${model}/v1/chat/completions`, { method: 'POST' }, async (stream) => {
    const chunks: Buffer[] = []
    for await (const chunk of stream) {
      chunks.push(chunk)
      feed.publish(chunk)
    }
    await feed.keep(Buffer.concat(chunks))
    feed.publish(Buffer.from('"key":"execution_status","value":"finished"\n'))
  }).end(JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Say something.' }] }))
})
await feed.serve(server)
