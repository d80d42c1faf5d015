/** The figures that parts give to `/metrics`: of webhooks whose receiver hangs or fails, and of a host's own part. */
import * as assert from 'uvu/assert'
import { startReceiver, type Answer, type WebhookReceiver } from '../../fixtures/webhook-receiver.ts'
import { until } from '../../support/processes.ts'
import { readMetrics, valueOf, type Families } from '../../support/prometheus-text.ts'
import { rest, textAt } from '../../support/rest.ts'
import { fakeAgent, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import type { Part, PartFigure } from '../../../src/index.ts'

const test = suite('parts/metrics/part-figures')

async function scrape(server: TestServer): Promise<{ text: string, families: Families }> {
  const { text } = await server.rest.get('/metrics')
  return { text, families: readMetrics(text) }
}

async function withReceiver(answer: Answer, body: (receiver: WebhookReceiver) => Promise<void>): Promise<void> {
  const receiver = await startReceiver(answer)
  try {
    await body(receiver)
  } finally {
    await receiver.close()
  }
}

async function create(server: TestServer, count: number): Promise<string[]> {
  const made = Array.from({ length: count }, () => server.rest.post('/api/conversations', { agent: fakeAgent('chat') }))
  return (await Promise.all(made)).map(({ json }) => textAt(json, 'id'))
}

test('a receiver that hangs is seen as conversations and turns that wait, and for how long', async () => {
  let now = 1_700_000_000_000
  const held: (() => void)[] = []
  await withReceiver((response) => void held.push(() => response.writeHead(204).end()), async (receiver) => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const webhooks = [{ base_url: `${receiver.url}/tenant-1`, secret, flush_delay: 0.01 }]
    await withServer(async (server) => {
      const ids = await create(server, 10)
      await until(() => held.length === 8)
      now += 90_000
      const { text, families } = await scrape(server)
      assert.is(valueOf(families, 'agent_server_webhook_conversations_waiting'), 10)
      assert.is(valueOf(families, 'agent_server_webhook_turns_waiting'), 2)
      assert.is(valueOf(families, 'agent_server_webhook_longest_wait_seconds'), 90)
      assert.is(valueOf(families, 'agent_server_webhook_delivered_total'), 0)
      for (const secret of [...ids, 'tenant-1', receiver.url, 'whsec', 'MfKQ']) assert.not.match(text, secret)
      await until(async () => {
        for (const answer of held.splice(0)) answer()
        return valueOf((await scrape(server)).families, 'agent_server_webhook_conversations_waiting') === 0
      })
      const after = (await scrape(server)).families
      assert.ok((valueOf(after, 'agent_server_webhook_delivered_total') ?? 0) >= 10)
      assert.is(valueOf(after, 'agent_server_webhook_longest_wait_seconds'), 0)
      assert.is(valueOf(after, 'agent_server_webhook_turns_waiting'), 0)
    }, { metrics: true, webhooks, clock: () => now })
  })
})

test('a receiver that refuses is seen as failed requests and dead letters, until they are removed', async () => {
  await withReceiver((response) => void response.writeHead(500).end(), async (receiver) => {
    const webhooks = [{ base_url: receiver.url, num_retries: 0, flush_delay: 0.01 }]
    await withServer(async (server) => {
      await create(server, 3)
      await until(async () => valueOf((await scrape(server)).families, 'agent_server_webhook_dead_letters') === 3)
      assert.is(valueOf((await scrape(server)).families, 'agent_server_webhook_failed_total'), 3)
      assert.is(valueOf((await scrape(server)).families, 'agent_server_webhook_dead_letters_dropped_total'), 0)
      const { json } = await server.rest.get('/api/webhooks/dead_letters')
      const id = textAt(json, 'items', 0, 'id')
      await server.rest.post(`/api/webhooks/dead_letters/${id}/redeliver`)
      await server.rest.delete(`/api/webhooks/dead_letters/${id}`)
      const { families } = await scrape(server)
      assert.is(valueOf(families, 'agent_server_webhook_failed_total'), 4)
      assert.is(valueOf(families, 'agent_server_webhook_dead_letters'), 2)
    }, { metrics: true, webhooks })
  })
})

test('the figures of a part are there while the part is; without it no name of it is', async () => {
  await withServer(async (server) => {
    assert.not.match((await scrape(server)).text, /webhook|git_programs/)
    await server.rest.get('/api/git/changes?path=/')
    assert.is(valueOf((await scrape(server)).families, 'agent_server_git_programs_waiting'), 0)
  }, { metrics: true })
})

test("a host's part adds its own figures; a name that is no name of a metric is left out", async () => {
  const figure = (name: string, value: number): PartFigure => ({ name, type: 'gauge', about: 'Bills to send.', value })
  const billing: Part = {
    name: 'billing',
    about: 'Bills',
    routes: { 'GET /api/billing': 'read' },
    load: async () => ({
      start: () => ({
        handlers: { 'GET /api/billing': () => ({ status: 204 }) },
        figures: () => [figure('bills_waiting', 3), figure('bills{id="7"}', 1), figure('bills_waiting', 4)],
      }),
    }),
  }
  await withServer(async (server) => {
    assert.not.match((await scrape(server)).text, 'bills')
    assert.is((await rest(server.url, server.key).get('/api/billing')).status, 204)
    const { text, families } = await scrape(server)
    assert.is(valueOf(families, 'agent_server_bills_waiting'), 4)
    assert.not.match(text, 'id="7"')
    assert.equal(server.server.load().parts.map(({ value }) => value), [3, 1, 4])
  }, { metrics: true, ownParts: [billing] })
})

test.run()
