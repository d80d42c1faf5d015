/** The audit trail of a real server: user, action, time, result; its chain, its files, and a disk that is full. */
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { silentLog } from '../../../src/base/log.ts'
import { deferred } from '../../../src/base/wait.ts'
import { TrailLog } from '../../../src/parts/audit/trail-log.ts'
import { inspectTrail, readTrail } from '../../../src/parts/audit/reading.ts'
import { nodeFiles, type Files } from '../../../src/storage/files.ts'
import { createCanaries } from '../../support/canaries.ts'
import { makeFolder, until } from '../../support/processes.ts'
import { member, textAt } from '../../support/rest.ts'
import { failure } from '../../support/rpc.ts'
import { fakeAgent, runToEnd, withPrograms, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { addKey, runKeys } from '../keys/named.ts'

const test = suite('parts/audit')

async function recordsIn(dataDir: string): Promise<unknown[]> {
  const records: unknown[] = []
  for await (const { json } of readTrail(dataDir)) records.push(JSON.parse(json.toString()))
  return records
}

/** The request of this operation, and its result once that is there. */
async function pairOf({ dataDir }: TestServer, operation: string): Promise<readonly [unknown, unknown]> {
  let pair: readonly [unknown, unknown] = [undefined, undefined]
  await until(async () => {
    const records = await recordsIn(dataDir)
    const request = records.find((record) => member(record, 'operation') === operation)
    const result = records.find((record) => {
      return member(record, 'kind') === 'result' && member(record, 'ref') === member(request, 'ref')
    })
    pair = [request, result]
    return request !== undefined && result !== undefined
  })
  return pair
}

test('a change is recorded with the name of the key, the address, the route, the conversation and the status', () => {
  return withServer(async (server) => {
    const { rest } = await addKey(server, 'ci', { scopes: 'read,drive' })
    const id = textAt((await rest.post('/api/conversations', {})).json, 'id')
    await rest.patch(`/api/conversations/${id}`, { title: 'A title that is nobody\'s business' })
    await rest.get(`/api/conversations/${id}`)
    const [request, result] = await pairOf(server, 'PATCH /api/conversations/{conversation_id}')
    assert.equal([member(request, 'key'), member(request, 'conversation'), member(result, 'status')], ['ci', id, 200])
    assert.match(String(member(request, 'address')), '127.0.0.1')
    assert.match(String(member(request, 'at')), /^20\d\d-.*Z$/)
    await rest.patch('/api/settings', {})
    const [, refused] = await pairOf(server, 'PATCH /api/settings')
    assert.is(member(refused, 'status'), 403)
    await server.rest.put('/api/settings/secrets', { name: 'TOKEN', value: 'a-secret-value' })
    const [owner, stored] = await pairOf(server, 'PUT /api/settings/secrets')
    assert.equal([member(owner, 'key'), member(stored, 'subject')], ['session key', 'TOKEN'])
    await server.rest.get('/api/settings/secrets/TOKEN')
    const [shown] = await pairOf(server, 'GET /api/settings/secrets/{name}')
    assert.equal(member(shown, 'target'), { name: 'TOKEN' })
    await server.rest.get('/api/settings', { 'X-Expose-Secrets': 'plaintext' })
    await pairOf(server, 'GET /api/settings')
    await runKeys(server.dataDir, ['revoke', 'ci'])
    await until(async () => (await recordsIn(server.dataDir)).some((one) => member(one, 'event') === 'key revoked'))
    assert.equal((await inspectTrail(server.dataDir)).problems, [])
  }, { audit: 'on' })
})

test('reads and requests of strangers are not recorded', () => withServer(async (server) => {
  await server.rest.get('/api/settings')
  await server.rest.send('POST', '/api/console/sign-in', { body: { code: 'x' }, headers: { 'X-Session-API-Key': [] } })
  await server.rest.send('POST', '/api/conversations', { body: {}, headers: { 'X-Session-API-Key': 'wrong' } })
  await server.rest.post('/api/conversations', {})
  await pairOf(server, 'POST /api/conversations')
  const operations = (await recordsIn(server.dataDir)).map((record) => member(record, 'operation')).filter(Boolean)
  assert.equal(operations, ['POST /api/conversations'])
}, { audit: 'on' }))

test('no secret, no prompt and no title is in the trail', () => {
  return withServer(async (server) => {
    const canaries = createCanaries()
    const secret = canaries.of('secret')
    await server.rest.put('/api/settings/secrets', { name: 'CODEX_TOKEN', value: secret })
    const llm = { model: 'm', api_key: canaries.of('llm') }
    await server.rest.patch('/api/settings', { agent_settings_diff: { llm } })
    const created = await server.rest.post('/api/conversations', {
      agent_settings: { agent_kind: 'acp', acp_server: 'custom', acp_command: fakeAgent('echo').acp_command },
      secrets: { OWN: { kind: 'StaticSecret', value: canaries.of('own') } },
    })
    const id = textAt(created.json, 'id')
    const content = [{ type: 'text', text: canaries.of('prompt') }]
    const client = await server.socket(id)
    await client.next()
    client.send(JSON.stringify({ role: 'user', content }))
    await pairOf(server, 'MESSAGE /sockets/events/{conversation_id}')
    await server.rest.post(`/api/conversations/${id}/events`, { content, run: true })
    await server.rest.patch(`/api/conversations/${id}`, { title: canaries.of('title') })
    await server.rest.send('DELETE', `/api/settings/secrets/${encodeURIComponent(secret)}`)
    await pairOf(server, 'DELETE /api/settings/secrets/{name}')
    client.destroy()
    for (const name of readdirSync(join(server.dataDir, 'audit'))) {
      assert.equal(canaries.hitsIn(name, readFileSync(join(server.dataDir, 'audit', name))), [])
    }
  }, { audit: 'on' })
})

test('the command prints the trail, and verify finds a changed, a removed and a missing line', () => {
  return withServer(async (server) => {
    for (const title of ['a', 'b', 'c']) await server.rest.post('/api/conversations', { tags: { title } })
    await pairOf(server, 'POST /api/conversations')
    await server.server.close()
    const args = ['--data-dir', server.dataDir, '--workspace-dir', server.workspaceDir]
    const printed = await runToEnd(['audit', ...args], server.folder)
    assert.is(printed.code, 0, printed.stderr)
    assert.match(printed.stdout, /session key from \S*127\.0\.0\.1: POST \/api\/conversations -> 201/)
    assert.match(printed.stderr, /^\d+ records, head [0-9a-f]{32}\n$/)
    const none = await runToEnd(['audit', '--since', '2090-01-01', ...args], server.folder)
    assert.equal([none.code, none.stdout], [0, ''])
    assert.is((await runToEnd(['audit', '--since', 'yesterday', ...args], server.folder)).code, 2)
    const json = await runToEnd(['audit', '--json', ...args], server.folder)
    assert.is(member(JSON.parse(json.stdout.split('\n')[0] ?? ''), 'kind'), 'start')
    const path = join(server.dataDir, 'audit', '000001.jsonl')
    const whole = readFileSync(path, 'utf8')
    const lines = whole.split('\n')
    for (const changed of [
      whole.replace('session key', 'somebody els'), [...lines.slice(0, 2), ...lines.slice(3)].join('\n'),
      [...lines.slice(0, 1), lines[2], lines[1], ...lines.slice(3)].join('\n'), lines.slice(1).join('\n'),
    ]) {
      writeFileSync(path, changed)
      const { code, stdout } = await runToEnd(['verify', ...args], server.folder)
      assert.equal([code, stdout.includes('does not continue the chain')], [1, true], changed)
    }
    writeFileSync(path, whole)
    const sound = await runToEnd(['verify', ...args], server.folder)
    assert.is(sound.code, 0)
    const [, counted = ''] = /^(\d+ records, head [0-9a-f]{32})$/m.exec(printed.stderr) ?? []
    assert.match(sound.stdout, `audit trail  sound: ${counted}\n`)
  }, { audit: 'on' })
})

test('a noted head is found in a trail that went on, and missed in one that lost its end', () => {
  return withServer(async (server) => {
    await server.rest.post('/api/conversations', {})
    await pairOf(server, 'POST /api/conversations')
    const audit = (...words: string[]) => runToEnd(['audit', '--data-dir', server.dataDir, ...words], server.folder)
    const head = /head (\w+)/.exec((await audit()).stderr)?.[1] ?? ''
    await server.server.close()
    const later = await audit('--expect', head)
    assert.is((await audit('--expect', head.toUpperCase())).code, 0)
    for (const word of ['', head.slice(1), `${head}0`, `g${head.slice(1)}`]) {
      const wrong = await audit('--expect', word)
      assert.equal([wrong.code, wrong.stdout], [2, ''])
      assert.match(wrong.stderr, `Could not use --expect "${word}": expected a head of 32 hex digits`)
    }
    assert.equal([later.code, later.stdout], [0, ''], later.stderr)
    assert.not.match(later.stderr, head, 'the trail has a new head')
    const path = join(server.dataDir, 'audit', '000001.jsonl')
    const lines = readFileSync(path, 'utf8').split('\n')
    const noted = lines.findIndex((line) => line.startsWith(head))
    writeFileSync(path, `${lines.slice(0, noted).join('\n')}\n`)
    const cut = await audit('--expect', head)
    assert.equal([cut.code, cut.stdout], [1, ''])
    assert.match(cut.stderr, `The trail does not go through the head ${head}`)
    assert.is((await runToEnd(['verify', '--data-dir', server.dataDir], server.folder)).code, 0, 'the chain is whole')
    assert.match((await audit('--help')).stdout, 'or its file was moved away')
  }, { audit: 'on' })
})

test('without --audit there is no trail, and the command says how to get one', () => withServer(async (server) => {
  await server.rest.post('/api/conversations', {})
  assert.not.ok(readdirSync(server.dataDir).includes('audit'))
  const { code, stderr } = await runToEnd(['audit', '--data-dir', server.dataDir], server.folder)
  assert.equal([code, stderr.includes('--audit on')], [1, true])
}))

test('a killed server leaves a sound trail, and a torn line is cut off', withPrograms(async (start) => {
  const first = await start(['--audit', 'required'])
  const calls = Array.from({ length: 20 }, () => first.rest.post('/api/conversations', {}).catch(() => undefined))
  await calls[0]
  await first.stop('SIGKILL')
  await Promise.all(calls)
  const made = readdirSync(join(first.dataDir, 'conversations')).length
  const records = await recordsIn(first.dataDir)
  assert.ok(records.filter((one) => member(one, 'kind') === 'request').length >= made)
  appendFileSync(join(first.dataDir, 'audit', '000001.jsonl'), '0123')
  const second = await start(['--audit', 'required'])
  assert.is((await second.rest.post('/api/conversations', {})).status, 201)
  await second.stop('SIGTERM')
  assert.equal((await inspectTrail(second.dataDir)).problems, [])
}))

interface Disk {
  isFull: boolean
  /** The promises that the next writes wait for, in order. Other writes do not wait. */
  readonly gates: Promise<void>[]
}

async function withLog(
  body: (dataDir: string, open: (limitBytes?: number) => Promise<TrailLog>, disk: Disk) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const disk: Disk = { isFull: false, gates: [] }
  const files: Files = {
    async open(path, options) {
      const file = await nodeFiles.open(path, options)
      return {
        ...file,
        async write(bytes, position) {
          await disk.gates.shift()
          if (!disk.isFull) return file.write(bytes, position)
          await file.write(bytes.subarray(0, 5), position)
          throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        },
      }
    },
  }
  try {
    await body(folder, (limitBytes = 1000) => {
      return TrailLog.open({ dataDir: folder, log: silentLog, clock: () => 0, files, limitBytes })
    }, disk)
  } finally {
    remove()
  }
}

test('the chain goes on over rotated files, and a missing file is found', () => withLog(async (dataDir, open) => {
  const log = await open()
  for (let number = 0; number < 40; number++) await log.append({ number, text: 'x'.repeat(100) })
  await log.close()
  const files = readdirSync(join(dataDir, 'audit'))
  assert.ok(files.length > 3, String(files))
  assert.equal((await recordsIn(dataDir)).map((record) => member(record, 'number')), [...Array(40).keys()])
  const next = await open()
  await next.append({ number: 40 })
  await next.close()
  assert.equal((await inspectTrail(dataDir)).problems, [])
  rmSync(join(dataDir, 'audit', files[0] ?? ''))
  assert.equal((await inspectTrail(dataDir)).problems, [], 'the oldest file may be moved away')
  rmSync(join(dataDir, 'audit', files[2] ?? ''))
  assert.match(((await inspectTrail(dataDir)).problems).join(), 'the file before it is missing')
}))

test('the chain goes on after a crash between the creation of a file and its first whole line', () => {
  return withLog(async (dataDir, open) => {
    const first = await open()
    await first.append({ number: 1 })
    await first.close()
    const lastWords = [['000002.jsonl', ''], ['000003.jsonl', ''], ['000004.jsonl', '0123']] as const
    for (const [name, content] of lastWords.slice(0, 2)) writeFileSync(join(dataDir, 'audit', name), content)
    for (const [name, content] of lastWords.slice(1)) {
      writeFileSync(join(dataDir, 'audit', name), content)
      const log = await open()
      await log.append({ name })
      await log.close()
      assert.equal((await inspectTrail(dataDir)).problems, [], name)
    }
    writeFileSync(join(dataDir, 'audit', '000006.jsonl'), '')
    const late = await open()
    await late.append({ number: 6 })
    await late.close()
    assert.match((await inspectTrail(dataDir)).problems.join(), 'the file before it is missing')
  })
})

test('a record that does not fit into the queue is counted once', () => withLog(async (dataDir, open, disk) => {
  const log = await open(100_000_000)
  const [first, second] = [deferred<void>(), deferred<void>()]
  disk.gates.push(first.promise, second.promise)
  const small = log.append({ number: 1, text: 'x'.repeat(1000) })
  // With this line alone the queue has room for 10 bytes: a record `lost` is still queued, and the record after it not.
  const lineBytes = `${'0'.repeat(32)} ${JSON.stringify({ at: new Date(0).toISOString(), number: 2, text: '' })}\n`.length
  const large = log.append({ number: 2, text: 'x'.repeat(8 * 1024 * 1024 - 10 - lineBytes) })
  assert.match(String(await failure(log.append({ number: 3 }))), 'bytes wait to be written')
  first.resolve()
  await small
  assert.match(String(await failure(log.append({ number: 4 }))), 'bytes wait to be written')
  second.resolve()
  await large
  await log.append({ number: 5 })
  await log.close()
  const records = await recordsIn(dataDir)
  assert.equal(records.map((record) => member(record, 'number') ?? member(record, 'records')), [1, 2, 1, 1, 5])
}))

test('a full disk loses records, and the trail says how many', () => withLog(async (dataDir, open, disk) => {
  const log = await open(1_000_000)
  await log.append({ number: 1 })
  disk.isFull = true
  const failures = await Promise.allSettled([log.append({ number: 2 }), log.append({ number: 3 })])
  assert.equal(failures.map(({ status }) => status), ['rejected', 'rejected'])
  disk.isFull = false
  await log.append({ number: 4 })
  await log.close()
  const numbers = (await recordsIn(dataDir)).map((record) => member(record, 'number') ?? member(record, 'records'))
  assert.equal(numbers, [1, 2, 4])
  assert.equal((await inspectTrail(dataDir)).problems, [])
}))

test.run()
