/**
 * The table of hostile requests, as raw bytes at real servers: every one is refused as its row says, and nothing has
 * happened. The rows of one kind are sent at the same time, and the state of the server is compared after each kind.
 */
import * as assert from 'uvu/assert'
import { parseAnswers } from '../http/raw-client.ts'
import { accessRows } from '../support/hostile-access.ts'
import { changesOf, startTarget, type Target } from '../support/hostile-entrances.ts'
import { ask, id, key, tell, withKey, type Entrance, type HostileRow } from '../support/hostile-row.ts'
import { wireRows } from '../support/hostile-wire.ts'
import { until } from '../support/processes.ts'
import { suite } from '../support/suite.ts'
import { connect } from '../support/ws-client.ts'

const test = suite('hostile requests')
const rows = [...accessRows, ...wireRows]
const kinds = [...new Set(rows.map(({ kind }) => kind))]
const entrances = ['keyed', 'open', 'named', 'public'] as const

const targets = new Map<Entrance, Target>()
const states = new Map<Entrance, readonly string[]>()
test.before(async () => {
  for (const entrance of entrances) {
    const target = await startTarget(entrance)
    targets.set(entrance, target)
    states.set(entrance, await target.state())
  }
})
test.after(async () => {
  for (const target of targets.values()) await target.close()
})

function targetOf(entrance: Entrance): Target {
  const target = targets.get(entrance)
  if (target === undefined) throw new TypeError(`Expected a server "${entrance}"`)
  return target
}

/** Returns the faults of the answers to a row; empty if there are none. */
async function faultsOf({ what, bytes, statuses }: HostileRow, target: Target): Promise<string[]> {
  const text = await target.send(bytes)
  const answers = parseAnswers(text)
  const isAsExpected = answers.map(({ status }) => status).join() === statuses.join()
  const isSilent = answers.every(({ status, headers, body }) => {
    if (status === 401) return body === '' || body === '{"detail":"Unauthorized"}'
    return status !== 403 || headers['access-control-allow-origin'] === undefined
  })
  return isAsExpected && isSilent && !text.includes(key)
    ? []
    : [`${what}: expected ${statuses.join()}, got ${text.slice(0, 500)}`]
}

async function assertUntouched(entrance: Entrance): Promise<void> {
  const target = targetOf(entrance)
  assert.equal(changesOf(states.get(entrance) ?? [], await target.state()), [], entrance)
  assert.not.ok(target.hasRun())
}

for (const entrance of entrances) {
  for (const kind of kinds) {
    const sent = rows.filter((row) => row.kind === kind && row.entrances.includes(entrance))
    if (sent.length === 0) continue
    test(
      `refuses all ${sent.length} requests of the kind "${kind}" at a server that is ${entrance}, and nothing has changed`,
      async () => {
        const faults = await Promise.all(sent.map((row) => faultsOf(row, targetOf(entrance))))
        assert.equal(faults.flat(), [])
        await assertUntouched(entrance)
      },
    )
  }
}

test('a socket without a key is told nothing, and what it says is not heard', async () => {
  const message = '{"role":"user","content":[{"type":"text","text":"evil"}]}'
  const firsts = [
    message, '{"type":"auth","session_api_key":"wrong"}', `{"type":"auth","session_api_key":["${key}"]}`,
    `{"session_api_key":"${key}"}`, '',
  ]
  for (const entrance of ['keyed', 'public'] as const) {
    for (const first of firsts) {
      const client = await connect(`http://127.0.0.1:${targetOf(entrance).port}/sockets/events/${id}`)
      client.send(first)
      client.send(message)
      assert.is((await client.closed).code, 4001)
      assert.equal(client.messages, [])
    }
    await assertUntouched(entrance)
  }
})

test(
  `the table has ${rows.length} rows of ${kinds.length} kinds, no two of them the same, and none that expects to be served`,
  () => {
    const sent = rows.reduce((sum, row) => sum + row.entrances.length, 0)
    process.stdout.write(
      `${rows.length} rows of ${kinds.length} kinds, sent ${sent} times to ${entrances.length} servers\n`,
    )
    assert.ok(rows.length >= 120)
    assert.is(new Set(rows.map(({ bytes }) => bytes)).size, rows.length)
    for (const { what, statuses } of rows) assert.ok(statuses.every((status) => status === 100 || status >= 400), what)
  },
)

test('the same requests are served to who may send them, and what they change is seen', async () => {
  const settings = '{"agent_settings_diff":{"acp_command":["/bin/evil"]}}'
  const requests: readonly (readonly [bytes: string, status: number, changes: boolean])[] = [
    [ask('GET /api/settings', withKey), 200, false],
    [tell('PATCH /api/settings', settings, withKey, 'Origin: http://localhost:3000'), 200, true],
    [tell('PUT /api/settings/secrets', '{"name":"EVIL","value":"evil-evil"}', withKey), 200, true],
    [tell('POST /api/conversations', '{}', withKey, 'Host: 127.0.0.1'), 201, true],
    [ask(`POST /api/conversations/${id}/run`, withKey), 200, true],
  ]
  for (const entrance of entrances) {
    const target = targetOf(entrance)
    for (const [bytes, status, changes] of requests) {
      const before = await target.state()
      assert.equal(parseAnswers(await target.send(bytes)).map((answer) => answer.status), [status], bytes)
      assert.is(changesOf(before, await target.state()).length > 0, changes, bytes)
    }
    await until(target.hasRun)
    const opened = await connect(`http://127.0.0.1:${target.port}/sockets/events/${id}`, { 'X-Session-API-Key': key })
    await opened.close()
    const removed = await target.send(ask(`DELETE /api/conversations/${id}`, withKey))
    assert.is(parseAnswers(removed)[0]?.status, 200)
  }
})

test.run()
