/**
 * The access log and the log in a file, from real programs: the contents of a line, texts that it never has, rotation,
 * a full disk.
 */
import * as assert from 'uvu/assert'
import { readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTalk } from '../../e2e/talk.ts'
import { createCanaries } from '../../support/canaries.ts'
import { makeFolder, until } from '../../support/processes.ts'
import { readMetrics, valueOf } from '../../support/prometheus-text.ts'
import { rest } from '../../support/rest.ts'
import { runToEnd, withPrograms, withServer } from '../../support/server.ts'
import { mountRefusal, withSmallDisk } from '../../support/small-disk.ts'
import { suite } from '../../support/suite.ts'
import { connect } from '../../support/ws-client.ts'

const test = suite('parts/metrics/access-log')

type Line = Record<string, unknown>

function linesOf(path: string): Line[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1).map((line): Line => JSON.parse(line))
}

/** Some fields of lines. */
function picked(lines: readonly Line[], ...names: string[]): unknown[][] {
  return lines.map((line) => names.map((name) => line[name]))
}

const socketRoute = '/sockets/events/{conversation_id}'

test('a line tells the method, the route, the outcome and the address, and two tell of a WebSocket', async () => {
  const { folder, remove } = makeFolder()
  const path = join(folder, 'access.jsonl')
  await withServer(async (server) => {
    const talk = await startTalk(server, 'echo')
    await rest(server.url, 'a-wrong-key').get('/api/settings?key=in-the-query', { 'X-Request-Id': 'an-id' })
    await server.rest.get('/nowhere/at/all')
    const socket = await server.socket(talk.id)
    await socket.close(1000)
    await server.socket('no-uuid').then(() => assert.unreachable(), () => undefined)
    const lines = (): Line[] => linesOf(path)
    await until(async () => lines().length === 6)
    assert.equal(picked(lines(), 'method', 'route', 'status', 'socket', 'code'), [
      ['POST', '/api/conversations', 201, undefined, undefined],
      ['GET', '/api/settings', 401, undefined, undefined],
      ['GET', null, 404, undefined, undefined],
      ['GET', socketRoute, 101, 'open', undefined],
      ['GET', socketRoute, undefined, 'closed', 1000],
      ['GET', socketRoute, 403, undefined, undefined],
    ])
    assert.is(lines()[1]?.['request_id'], 'an-id')
    assert.is(lines()[3]?.['request_id'], lines()[4]?.['request_id'])
    for (const { time, address, request_id: id } of lines()) {
      assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      assert.equal([address, typeof id], ['127.0.0.1', 'string'])
    }
    for (const { bytes, ms, socket: state } of lines()) {
      if (state !== 'open') assert.ok(Number(bytes) > 50 && Number(ms) >= 0)
    }
    const members = ['address', 'bytes', 'key', 'method', 'ms', 'request_id', 'route', 'status', 'time']
    assert.equal(Object.keys(lines()[0] ?? {}).sort(), members)
    const own = 'session key'
    assert.equal(lines().map(({ key }) => key), [own, undefined, undefined, own, own, undefined])
  }, { accessLog: path }).finally(remove)
})

test('a line names the key, also one that comes in the first frame', withPrograms(async (start, folder) => {
  const path = join(folder, 'access.jsonl')
  const program = await start(['--access-log', path, '--metrics'])
  const add = async (name: string, scopes: string): Promise<string> => {
    const { stdout } = await runToEnd(['keys', 'add', name, '--scopes', scopes, '--data-dir', program.dataDir], folder)
    return stdout.trim()
  }
  const [scraper, driver] = [await add('scraper', 'metrics'), await add('driver', 'read,drive')]
  const bearer = { Authorization: `Bearer ${scraper}` }
  const stranger = rest(program.url, undefined)
  await until(async () => (await stranger.get('/metrics', bearer)).status === 200)
  assert.is((await rest(program.url, scraper).get('/api/settings')).status, 403)
  await until(async () => (await rest(program.url, driver).get('/metrics')).status === 403)
  const talk = await startTalk(program)
  const socket = await connect(`${program.url}/sockets/events/${talk.id}`)
  socket.send(JSON.stringify({ type: 'auth', session_api_key: driver }))
  await socket.next()
  await socket.close(1000)
  await until(async () => linesOf(path).some((line) => line['socket'] === 'closed'))
  const told = linesOf(path).filter((line) => line['status'] !== 401)
  assert.equal(picked(told, 'route', 'status', 'code', 'key'), [
    ['/metrics', 200, undefined, 'scraper'],
    ['/api/settings', 403, undefined, 'scraper'],
    ['/metrics', 403, undefined, 'driver'],
    ['/api/conversations', 201, undefined, 'session key'],
    [socketRoute, 101, undefined, undefined],
    [socketRoute, undefined, 1000, 'driver'],
  ])
  assert.not.match(readFileSync(path, 'utf8'), new RegExp(`${scraper}|${driver}`))
}))

test('no canary of a request is in the access log', async () => {
  const { folder, remove } = makeFolder()
  const path = join(folder, 'access.jsonl')
  const canaries = createCanaries()
  const plain = (place: string): string => canaries.of(place).replace(/[^A-Za-z0-9]/g, '')
  const secret = plain('secret as a request id')
  await withServer(async (server) => {
    await server.rest.put('/api/settings/secrets', { name: 'A_SECRET', value: secret })
    const talk = await startTalk(server, { title: canaries.of('title') })
    await talk.send(canaries.of('prompt'), false)
    await server.rest.get(`/${plain('path')}/${plain('path')}?${plain('query')}=${plain('value')}`)
    await server.rest.get(`/api/settings/secrets/${plain('parameter')}`, {
      'User-Agent': plain('agent'), Referer: plain('referer'), Cookie: `a=${plain('cookie')}`,
      Authorization: `Bearer ${plain('bearer')}`, 'X-Request-Id': secret,
    })
    await server.socket(talk.id, `?session_api_key=${plain('key in a query')}`).catch(() => undefined)
    await until(async () => linesOf(path).length >= 6)
    const text = readFileSync(path, 'utf8')
    assert.equal(canaries.hitsIn('the access log', text), [])
    for (const known of [talk.id, server.key, server.folder]) assert.not.ok(text.includes(known), known)
    assert.ok(canaries.places.length >= 11)
  }, { accessLog: path }).finally(remove)
})

test('"-" is standard output, and a log in a file leaves standard error empty', withPrograms(async (start, folder) => {
  const path = join(folder, 'server.log')
  const program = await start(['--access-log', '-', '--log-file', path])
  await program.rest.get('/alive')
  await until(async () => program.stdout().includes('"route":"/alive"'))
  assert.is(await program.stop('SIGTERM'), 0)
  assert.is(program.stderr(), '')
  assert.equal(linesOf(path).map(({ message }) => message).filter((message) => message !== 'Request'), [
    'Listening', 'Closing: running conversations are paused', 'Closed',
  ])
  assert.is(statSync(path).mode & 0o777, 0o640)
}))

test('SIGHUP rotates both logs under load: no line is lost', withPrograms(async (start, folder) => {
  const access = join(folder, 'access.jsonl')
  const log = join(folder, 'server.log')
  const program = await start(['--access-log', access, '--log-file', log, '--log-level', 'debug'])
  const rotations = 5
  let asked = 0
  for (let rotation = 0; rotation < rotations; rotation++) {
    const client = async (): Promise<void> => {
      for (let count = 0; count < 20; count++, asked++) await program.rest.get('/alive')
    }
    const clients = [client(), client(), client()]
    renameSync(access, `${access}.${rotation}`)
    renameSync(log, `${log}.${rotation}`)
    program.child.kill('SIGHUP')
    await Promise.all(clients)
    await until(async () => readIfThere(log).includes('The log files were opened again'))
  }
  const talk = await startTalk(program, 'never')
  const socket = await program.socket(talk.id)
  assert.is(await program.stop('SIGTERM'), 0)
  await socket.closed
  const numbers = [...Array(rotations).keys()]
  const lines = [...numbers.map((number) => `${access}.${number}`), access].flatMap(linesOf)
  assert.is(lines.filter(({ route }) => route === '/alive').length, asked)
  assert.is(asked, rotations * 60)
  assert.equal(picked(lines.slice(-1), 'route', 'socket', 'code'), [[socketRoute, 'closed', 1012]])
  const logged = [...numbers.map((number) => `${log}.${number}`), log].flatMap(linesOf)
  assert.is(logged.filter(({ message, route }) => message === 'Request' && route === '/alive').length, asked)
  assert.is(logged.at(-1)?.['message'], 'Closed')
}))

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

test('a log that cannot be used ends the start with exit code 2 and a line', async () => {
  const { folder, remove } = makeFolder()
  try {
    const link = join(folder, 'link.log')
    symlinkSync('/etc/passwd', link)
    const where = ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'work'), '--port', '0']
    for (const flag of ['--log-file', '--access-log']) {
      const { code, stderr } = await runToEnd(['serve', ...where, flag, link], folder)
      assert.is(code, 2)
      assert.ok(stderr.endsWith(`agent-server: Could not use the log file "${link}": it is a link\n`), stderr)
    }
    const { code, stderr } = await runToEnd(['serve', ...where, '--access-log', 'relative.log'], folder)
    const expected = 'expected an absolute path, or "-" for standard output'
    assert.equal([code, stderr], [2, `agent-server: Could not use --access-log "relative.log": ${expected}\n`])
  } finally {
    remove()
  }
})

test('the last words of a crash are in the log file too', withPrograms(async (start, folder) => {
  const path = join(folder, 'server.log')
  const mistake = join(folder, 'mistake.cjs')
  writeFileSync(mistake, "process.on('SIGUSR2', () => { throw new Error('A mistake of ours') })")
  const environment = { NODE_OPTIONS: `--require ${mistake}` }
  const program = await start(['--log-file', path], { withKey: true, environment })
  assert.is(await program.stop('SIGUSR2'), 1)
  assert.match(readFileSync(path, 'utf8'), 'Error: A mistake of ours')
  assert.match(program.stderr(), 'Error: A mistake of ours')
}))

const refusal = mountRefusal()
if (refusal !== undefined) test.skip('a full disk', refusal)
else {
  test('a full disk stops neither requests nor metrics, which count the lost lines',
    withSmallDisk('size=4m', async (start, disk) => {
      const logs = join(disk.folder, 'data', 'access.jsonl')
      const program = await start(['--access-log', logs, '--metrics'])
      disk.fill()
      const dropped = async (): Promise<number> => {
        const families = readMetrics((await program.rest.get('/metrics')).text)
        return valueOf(families, 'agent_server_log_lines_dropped_total', { log: 'access' }) ?? 0
      }
      await until(async () => (await dropped()) > 20)
      assert.is((await program.rest.get('/alive')).status, 200)
      assert.match(program.stderr(), 'lines are dropped')
      disk.clear()
      await until(async () => {
        await program.rest.get('/health')
        return program.stderr().includes('is written again')
      })
      await until(async () => readFileSync(logs, 'utf8').includes('"route":"/health"'))
      assert.is(await program.stop('SIGTERM'), 0)
    }))
}

test.run()
