import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { silentLog } from '../../../src/base/log.ts'
import { NamedKeys } from '../../../src/http/principal.ts'
import { Sessions } from '../../../src/parts/console/sessions.ts'
import { until } from '../../support/processes.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { connect, Refused } from '../../support/ws-client.ts'
import { cookiesOf, newCode, stranger, visit, type Visitor } from './visitor.ts'

const test = suite('parts/console: sign-in and its attacks')
const settings = '/api/settings'
let server: TestServer
let visitor: Visitor

test.before(async () => {
  server = await startServer()
  visitor = await visit(server)
})
test.after(() => server.close())

async function statusWith(headers: Visitor['headers'], path = settings): Promise<number> {
  return (await stranger(server).get(path, headers)).status
}

test('a code signs in once, with a cookie that scripts and other sites do not get', async () => {
  const [first = '', second = ''] = cookiesOf(visitor.signedIn)
  const port = new URL(server.url).port
  for (const [cookie, path] of [[first, '/api'], [second, '/sockets']] as const) {
    assert.match(cookie, new RegExp(`^agent_server_console_${port}=[\\w-]{43}; Path=${path}; HttpOnly; SameSite=Strict; `))
  }
  assert.not.match(first, 'Secure')
  assert.is(await statusWith(visitor.headers), 200)
  const https = { Origin: `https://127.0.0.1:${port}` }
  const safe = await server.rest.send('POST', '/api/console/sessions', { headers: https })
  assert.match(cookiesOf(safe)[0] ?? '', /; Secure$/)
})

test('a stolen code is worth nothing after its use, and the second use is logged', async () => {
  const code = await newCode(server)
  const post = (): Promise<{ status: number; text: string }> => {
    return stranger(server).send('POST', '/api/console/sign-in', { body: { code } })
  }
  assert.is((await post()).status, 200)
  const again = await post()
  assert.is(again.status, 401)
  assert.match(again.text, 'The code was used already')
  assert.ok(server.log.some((line) => line.includes('A code of the console was used again')))
  assert.not.ok(server.log.some((line) => line.includes(code)))
})

test('codes cannot be guessed quickly, and a code ends after ten minutes', async () => {
  let now = Date.now()
  const own = await startServer({ clock: () => now })
  try {
    const code = await newCode(own)
    now += 10 * 60_000
    for (const _ of ['late', 'later']) {
      const late = await stranger(own).send('POST', '/api/console/sign-in', { body: { code } })
      assert.is(late.status, 401)
    }
    assert.not.ok(own.log.some((line) => line.includes('was used again')))
    const guesses = Array.from({ length: 16 }, () => {
      return stranger(own).send('POST', '/api/console/sign-in', { body: { code: 'a-guess' } })
    })
    assert.ok((await Promise.all(guesses)).every(({ status }) => status === 401))
    const refused = own.log.filter((line) => line.includes('"A code of the console was refused"'))
    assert.ok(refused.some((line) => line.includes('"count":16')))
    assert.is((await visit(own)).signedIn.status, 200)
  } finally {
    await own.close()
  }
})

test('neither the cookie nor the proof counts alone: another port of this host gets the cookie', async () => {
  const { Cookie, ...withoutCookie } = visitor.headers
  const { 'X-Console-Proof': proof, ...withoutProof } = visitor.headers
  assert.is(await statusWith(withoutProof), 401)
  assert.is(await statusWith(withoutCookie), 401)
  assert.is(await statusWith({ ...visitor.headers, 'X-Console-Proof': `${String(proof).slice(1)}x` }), 401)
  assert.is(await statusWith({ ...visitor.headers, Cookie: `${String(Cookie)}; ${String(Cookie)}` }), 401)
  const other = await visit(server)
  assert.is(await statusWith({ ...visitor.headers, 'X-Console-Proof': other.proof }), 401)
})

test('the log tells a refused session of the console from a refused key', async () => {
  const own = await startServer()
  try {
    const { headers, cookie } = await visit(own)
    const told = (): string[] => own.log.flatMap((line) => /"([^"]* was refused)"/.exec(line)?.[1] ?? [])
    assert.is((await stranger(own).get(settings, { ...headers, 'X-Console-Proof': 'wrong' })).status, 401)
    assert.equal(told(), ['A session of the console was refused'])
    const socket = await connect(`${own.url}/sockets/events/${'0'.repeat(32)}`, {
      Origin: own.url, Cookie: cookie,
    })
    socket.send(JSON.stringify({ type: 'auth', session_api_key: 'wrong' }))
    await socket.closed
    assert.equal(told().at(1), 'A session of the console was refused')
    for (let count = 0; count < 2; count++) {
      assert.is((await stranger(own).get(settings, { 'X-Session-API-Key': 'wrong' })).status, 401)
    }
    assert.equal(told().at(2), 'A session key was refused')
  } finally {
    await own.close()
  }
})

test('a page of another origin is refused with the cookie and even with the proof', async () => {
  for (const Origin of ['https://evil.example', 'null']) {
    assert.is(await statusWith({ ...visitor.headers, Origin }), 403)
  }
  const port = Number(new URL(server.url).port)
  for (const Origin of [`http://127.0.0.1:${port + 1}`, `http://localhost:${port}`]) {
    assert.is(await statusWith({ ...visitor.headers, Origin }), 401, Origin)
  }
  for (const site of ['same-site', 'none']) {
    assert.is(await statusWith({ ...visitor.headers, 'Sec-Fetch-Site': site }), 401, site)
  }
  assert.is(await statusWith({ ...visitor.headers, 'Sec-Fetch-Site': 'cross-site' }), 401)
})

test('a session counts at the Host of its begin only', async () => {
  const { port } = new URL(server.url)
  const at = (Host: string): Promise<number> => statusWith({ ...visitor.headers, Origin: `http://${Host}`, Host })
  assert.is(await at(`127.0.0.1:${port}`), 200)
  assert.is(await at(`localhost:${port}`), 401)
  assert.is(await at('127.0.0.1'), 401)
  assert.is(await at('rebound.example'), 403)
})

test('a socket needs the cookie, the origin of the page, and the proof in its first frame', async () => {
  const { json } = await server.rest.post('/api/conversations', {})
  const address = `${server.url}/sockets/events/${textAt(json, 'id')}`
  const { Cookie, Origin } = visitor.headers
  const greeted = async (headers: object, key: string): Promise<number> => {
    const client = await connect(address, { ...headers })
    client.send(JSON.stringify({ type: 'auth', session_api_key: key }))
    const closed = client.closed.then(({ code }) => code)
    const first = client.next().then(() => 0, () => closed)
    const outcome = await Promise.race([first, closed])
    client.destroy()
    return outcome
  }
  assert.is(await greeted({ Cookie, Origin }, visitor.proof), 0)
  assert.is(await greeted({ Cookie, Origin }, 'wrong'), 4001)
  assert.is(await greeted({ Cookie }, visitor.proof), 4001)
  assert.is(await greeted({ Origin }, visitor.proof), 4001)
  const hijack = await connect(address, { Cookie, Origin: 'https://evil.example' }).catch((thrown: unknown) => thrown)
  assert.instance(hijack, Refused)
})

test('a sign-out ends the session, its sockets and its cookie', async () => {
  const own = await visit(server)
  const { json } = await server.rest.post('/api/conversations', {})
  const { Cookie, Origin } = own.headers
  const socket = await connect(`${server.url}/sockets/events/${textAt(json, 'id')}`, { Cookie, Origin })
  socket.send(JSON.stringify({ type: 'auth', session_api_key: own.proof }))
  await socket.next()
  const out = await stranger(server).send('POST', '/api/console/sign-out', { headers: own.headers })
  assert.is(out.status, 200)
  assert.match(cookiesOf(out)[0] ?? '', /=; Path=\/api; .*Max-Age=0/)
  assert.equal(await socket.closed, { code: 4001, reason: 'Signed out' })
  assert.is(await statusWith(own.headers), 401)
})

test('sessions are listed without their secrets, and each can be ended', async () => {
  const own = await visit(server)
  const { json, text } = await stranger(server).get('/api/console/sessions', own.headers)
  const current = listAt(json, 'items').find((item) => member(item, 'is_current') === true)
  assert.ok(![own.proof, own.cookie.split('=')[1] ?? ''].some((secret) => text.includes(secret)))
  assert.is((await server.rest.delete(`/api/console/sessions/${textAt(current, 'id')}`)).status, 200)
  assert.is(await statusWith(own.headers), 401)
  assert.is((await server.rest.delete(`/api/console/sessions/${textAt(current, 'id')}`)).status, 404)
})

test('a session outlives the server, as digests in a private file, until it is idle or old', async () => {
  let now = Date.now()
  const folder = server.folder
  const first = await startServer({ clock: () => now, dataDir: join(folder, 'own-data') })
  const own = await visit(first)
  const port = Number(new URL(first.url).port)
  await first.close()
  const path = join(folder, 'own-data', 'console-sessions.json')
  assert.is(statSync(path).mode & 0o777, 0o600)
  const stored = readFileSync(path, 'utf8')
  assert.ok(![own.proof, own.cookie.split('=')[1] ?? ''].some((secret) => stored.includes(secret)))
  const second = await startServer({ clock: () => now, dataDir: join(folder, 'own-data'), port })
  const status = async (): Promise<number> => (await stranger(second).get(settings, own.headers)).status
  const day = 24 * 60 * 60_000
  try {
    for (const days of [0, 6, 6, 6, 6]) {
      now += days * day
      assert.is(await status(), 200)
    }
    now += 6 * day
    assert.is(await status(), 200)
    now += 1
    assert.is(await status(), 401)
  } finally {
    await second.close()
  }
})

test('the sockets of a session end when its time is over, without a request', async () => {
  let now = 0
  const dataDir = join(server.folder, 'own-sessions')
  mkdirSync(dataDir)
  const namedKeys = new NamedKeys()
  const sessions = await Sessions.open({ dataDir, clock: () => now, log: silentLog, namedKeys, sweepEveryMs: 1 })
  const { token } = await sessions.begin({ host: 'localhost', label: '', key: undefined })
  const session = sessions.find(token, 'localhost')
  let wasEnded = false
  session?.hold(() => {
    wasEnded = true
  })
  now += 7 * 24 * 60 * 60_000 + 1
  await until(() => wasEnded)
  await sessions.close()
})

test('--no-console and a server without the part have neither page nor sign-in', async () => {
  const cases = [[{ noConsole: true }, 404], [{ parts: ['docs'] }, 501]] as const
  for (const [options, status] of cases) {
    const own = await startServer(options)
    try {
      assert.is(await own.server.consoleAddress(own.url), undefined)
      assert.is((await own.rest.get('/console/')).status, status)
      assert.is((await own.rest.post('/api/console/sign-in', { code: 'x' })).status, status)
      assert.is((await stranger(own).get(settings, visitor.headers)).status, 401)
    } finally {
      await own.close()
    }
  }
})

test('the page has a strict policy, names no secret, and its files are immutable and compressed', async () => {
  const page = await stranger(server).get('/console/', { 'Accept-Encoding': 'identity' })
  assert.is(page.status, 200)
  const policy = String(page.headers['content-security-policy'])
  assert.match(policy, "default-src 'none'; script-src 'self'; style-src 'self'")
  assert.match(policy, "require-trusted-types-for 'script'")
  assert.is(page.headers['referrer-policy'], 'no-referrer')
  assert.not.match(page.text, /<script>|style=|onload/)
  const [, script = ''] = /src="([^"]+)"/.exec(page.text) ?? []
  const file = await stranger(server).get(`/console/${script}`, { 'Accept-Encoding': 'gzip, br' })
  assert.is(file.headers['content-encoding'], 'br')
  assert.match(String(file.headers['cache-control']), 'immutable')
  assert.is((await stranger(server).get(`/console/${script.replace(/assets\/\w/, 'assets/x')}`)).status, 404)
  assert.is((await stranger(server).get('/console/assets/..%2f..%2f/settings.json')).status, 404)
})

test.run()
