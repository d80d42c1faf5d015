/**
 * Webhooks of the built program: killed between record and delivery, started again, and the deliveries that a receiver
 * has then.
 */
import { appendFileSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { eventIds, startReceiver, states } from '../../fixtures/webhook-receiver.ts'
import { until } from '../../support/processes.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { fakeAgent, withPrograms, type Program } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/webhooks kill', 90_000)

async function finished({ rest }: Program, text = 'hello'): Promise<string> {
  const message = { role: 'user', content: [{ type: 'text', text }] }
  const { json } = await rest.post('/api/conversations', { agent: fakeAgent('chat'), initial_message: message })
  const id = textAt(json, 'id')
  const status = async (): Promise<unknown> =>
    member((await rest.get(`/api/conversations/${id}`)).json, 'execution_status')
  await until(async () => (await status()) === 'finished')
  return id
}

async function stored({ rest }: Program, id: string): Promise<string[]> {
  const { json } = await rest.get(`/api/conversations/${id}/events/search?limit=100`)
  return listAt(json, 'items').map((event) => textAt(event, 'id'))
}

test('everything that was recorded before a kill is delivered after the restart', withPrograms(async (start) => {
  const gone = await startReceiver()
  const port = Number(new URL(gone.url).port)
  await gone.close()
  const hook = { base_url: gone.url, event_buffer_size: 2, flush_delay: 0.05, num_retries: 100, retry_delay: 60 }
  const args = ['--webhook', JSON.stringify(hook)]
  const first = await start(args)
  const [one, two] = [await finished(first), await finished(first)]
  const ids = [await stored(first, one), await stored(first, two)]
  await first.rest.delete(`/api/conversations/${two}`)
  await first.stop('SIGKILL')
  const receiver = await startReceiver(undefined, port)
  try {
    const second = await start(args)
    await receiver.until((received) => {
      const isTold = states(received, one).includes('finished') && states(received, two).includes('deleting')
      return isTold && eventIds(received, one).length >= (ids[0]?.length ?? Infinity)
    })
    assert.equal(eventIds(receiver.received, one), ids[0])
    assert.equal(eventIds(receiver.received, two).slice(0, ids[1]?.length), ids[1])
    const waiting = async (): Promise<unknown> =>
      member((await second.rest.get('/api/webhooks')).json, 'webhooks', 0, 'waiting_conversations')
    await until(async () => (await waiting()) === 0)
    await second.stop('SIGKILL')
    // A second kill repeats nothing that was delivered and noted.
    const before = receiver.received.length
    const third = await start(args)
    const last = await finished(third)
    await receiver.until((received) => states(received, last).includes('finished'))
    assert.equal(eventIds(receiver.received.slice(before), one), [])
    assert.is(readdirSync(join(third.dataDir, 'webhooks')).length, 1)
  } finally {
    await receiver.close()
  }
}))

test('a kill in the middle of a delivery repeats it, and a torn line costs nothing', withPrograms(async (start) => {
  const receiver = await startReceiver(() => undefined)
  const args = ['--webhook', JSON.stringify({ base_url: receiver.url, event_buffer_size: 1 })]
  const program = await start(args)
  const id = await finished(program)
  const ids = await stored(program, id)
  await receiver.until((received) => received.length > 0)
  await program.stop('SIGKILL')
  await receiver.close()
  const [name = ''] = readdirSync(join(program.dataDir, 'webhooks'))
  const path = join(program.dataDir, 'webhooks', name)
  appendFileSync(path, `{"conversation":"${id}","seq":99`)
  const again = await startReceiver(undefined, Number(new URL(receiver.url).port))
  try {
    await start(args)
    await again.until((received) => eventIds(received, id).length >= ids.length)
    assert.equal(eventIds(again.received, id), ids)
    assert.not.match(readFileSync(path, 'utf8'), '"seq":99')
  } finally {
    await again.close()
  }
}))

test('events from before the webhook was configured are not sent, later ones are', withPrograms(async (start) => {
  const without = await start()
  const id = await finished(without)
  const before = await stored(without, id)
  await without.stop('SIGTERM')
  const receiver = await startReceiver()
  try {
    const { rest, ...program } = await start(['--webhook', JSON.stringify({
      base_url: receiver.url, event_buffer_size: 1,
    })])
    await rest.post(`/api/conversations/${id}/events`, { content: [{ type: 'text', text: 'again' }], run: true })
    await receiver.until((received) => states(received, id).includes('finished'))
    const all = await stored({ rest, ...program }, id)
    await receiver.until((received) => eventIds(received, id).length >= all.length - before.length)
    assert.equal(eventIds(receiver.received, id), all.slice(before.length))
  } finally {
    await receiver.close()
  }
}))

test.run()
