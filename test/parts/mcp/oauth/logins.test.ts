/** Logins: kept sealed, renewed once for all who use them, and over when the authorization server says so. */
import * as assert from 'uvu/assert'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loginOf, stateOf } from '../../../../src/parts/mcp/oauth/login.ts'
import { keyOf, newest, openLoginFile, withKept, type KeptLogins } from '../../../../src/parts/mcp/oauth/login-file.ts'
import { createLogins, LoginRequiredError, type Bearer } from '../../../../src/parts/mcp/oauth/logins.ts'
import { AppError, messageOf } from '../../../../src/base/errors.ts'
import { silentLog } from '../../../../src/base/log.ts'
import { createMasker } from '../../../../src/base/masking.ts'
import { deferred, sleep } from '../../../../src/base/wait.ts'
import { changeLog } from '../../../../src/settings/change-log.ts'
import { createCipher } from '../../../../src/settings/cipher.ts'
import { createMaskedValues } from '../../../../src/settings/masked-values.ts'
import type { StoredFile } from '../../../../src/settings/stored-file.ts'
import { makeFolder, until } from '../../../support/processes.ts'
import { failure } from '../../../support/rpc.ts'
import { suite } from '../../../support/suite.ts'
import { never, withWorld, type World } from './world.ts'

const test = suite('agents/mcp/oauth/logins')
const hour = 3_600_000

async function tokenOf(bearer: Bearer): Promise<string> {
  return bearer.token(never())
}

async function isOver(bearer: Bearer): Promise<boolean> {
  return (await failure(bearer.token(never()))) instanceof LoginRequiredError
}

function stored({ folder }: World): string {
  return readFileSync(join(folder, 'mcp-logins.json'), 'utf8')
}

test('nobody is signed in at first, and nothing is asked of anyone', () => withWorld(async (world) => {
  assert.ok(await isOver(world.bearer()))
  assert.equal([world.seen, world.shown], [[], []])
}))

test('a token is used until shortly before its end, then renewed, and masked before it is used', () => withWorld(async (
  world,
) => {
  await world.signIn()
  const first = await tokenOf(world.bearer())
  world.now += hour - 61_000
  assert.is(await tokenOf(world.bearer()), first)
  world.now += 2000
  const second = await tokenOf(world.bearer())
  assert.is.not(second, first)
  assert.not(world.masker.mask(`${first} ${second}`).includes('access-'))
  assert.equal(world.grants('refresh_token').map((body) => body.get('resource')), [world.mcp.url])
}))

test('a token that lives shorter than that is renewed after half of its life', () => withWorld(async (world) => {
  world.behaviour.expiresInSeconds = 10
  await world.signIn()
  await tokenOf(world.bearer())
  assert.is(world.grants('refresh_token').length, 0)
  world.now += 6000
  await tokenOf(world.bearer())
  assert.is(world.grants('refresh_token').length, 1)
}))

test('however many ask at once, one renewal is under way, and all get its token', () => withWorld(async (world) => {
  await world.signIn()
  const old = await tokenOf(world.bearer())
  world.now += hour
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, place) => {
    return place % 2 === 0 ? tokenOf(world.bearer()) : world.bearer().renewed(old, never())
  }))
  assert.is(new Set(tokens).size, 1)
  assert.is(await world.bearer().renewed(old, never()), tokens[0], 'who comes late gets the new one too')
  assert.is(world.grants('refresh_token').length, 1)
}))

test('who goes away does not stop a renewal that others wait for', () => withWorld(async (world) => {
  await world.signIn()
  world.now += hour
  const stop = new AbortController()
  const leaving = world.bearer().token(stop.signal)
  const staying = tokenOf(world.bearer())
  stop.abort(new Error('gone'))
  assert.is(messageOf(await failure(leaving)), 'gone')
  assert.match(await staying, /^access-/)
  assert.is(world.grants('refresh_token').length, 1)
}))

/** Returns a file in memory whose first reader gets the old content, late. */
function fileWithLateReader(
  initial: KeptLogins,
): { readonly file: StoredFile<KeptLogins>, readonly release: () => void } {
  let kept = initial
  let reads = 0
  const late = deferred<void>()
  const file: StoredFile<KeptLogins> = {
    async read() {
      const found = kept
      if (++reads === 1) await late.promise
      return found
    },
    update: async (change) => (kept = await change(kept)),
    rewrite: async () => undefined,
  }
  return { file, release: () => late.resolve() }
}

test('who looked before a renewal ended does not use its refresh token again', () => withWorld(async (world) => {
  await world.signIn()
  const server = { name: 'far', url: world.mcp.url }
  const login = await world.logins.find(server, undefined)
  const { file, release } = fileWithLateReader(
    new Map([[keyOf(server), { login, since: world.now, refused: undefined }]]),
  )
  const logins = createLogins({ file, clock: () => world.now })
  world.now += hour
  const late = logins.bearer(server, undefined).token(never())
  const renewed = await tokenOf(logins.bearer(server, undefined))
  release()
  assert.is(await late, renewed)
  assert.is(world.grants('refresh_token').length, 1)
  await logins.close()
}))

test('a refresh token that is not given anew stays', () => withWorld(async (world) => {
  world.behaviour.rotates = false
  await world.signIn()
  world.behaviour.withoutRefreshToken = true
  for (let count = 0; count < 2; count++) {
    world.now += hour
    await tokenOf(world.bearer())
  }
  const [first, second] = world.grants('refresh_token').map((body) => body.get('refresh_token'))
  assert.equal([first === second, first === null], [true, false])
}))

test('a renewal that the authorization server refuses ends the login, and is not tried again', () => withWorld(async (
  world,
) => {
  await world.signIn()
  world.now += hour
  world.behaviour.answers = { '/as/token': { status: 400, body: '{"error":"invalid_grant"}' } }
  for (let count = 0; count < 3; count++) assert.ok(await isOver(world.bearer()))
  assert.is(world.grants('refresh_token').length, 1)
  await world.restart()
  assert.ok(await isOver(world.bearer()))
  world.behaviour.answers = {}
  await world.signIn()
  assert.match(await tokenOf(world.bearer()), /^access-/)
}))

test('a renewal that fails otherwise is tried again: the login stays', () => withWorld(async (world) => {
  await world.signIn()
  world.now += hour
  for (const status of [500, 302]) {
    world.behaviour.answers = { '/as/token': { status, headers: { location: world.mcp.url } } }
    const error = await failure(world.bearer().token(never()))
    assert.equal([error instanceof AppError, error instanceof LoginRequiredError], [true, false])
  }
  world.behaviour.answers = {}
  assert.match(await tokenOf(world.bearer()), /^access-/)
}))

test('a login without a refresh token is over when the server refuses its token', () => withWorld(async (world) => {
  world.behaviour.withoutRefreshToken = true
  world.behaviour.expiresInSeconds = undefined
  await world.signIn()
  world.now += 100 * hour
  const token = await tokenOf(world.bearer())
  assert.ok((await failure(world.bearer().renewed(token, never()))) instanceof LoginRequiredError)
  assert.ok(await isOver(world.bearer()))
  assert.equal(world.grants('refresh_token'), [])
}))

test('logins outlive a restart, each for its own name and address alone', () => withWorld(async (world) => {
  await world.signIn()
  const token = await tokenOf(world.bearer())
  await world.restart()
  assert.is(await tokenOf(world.bearer()), token)
  assert.ok(await isOver(world.bearer(undefined, 'near')))
  assert.ok(await isOver(world.logins.bearer({ name: 'far', url: `${world.mcp.url}/more` }, undefined)))
}))

test('a sealed login that was moved to another server does not open', () => withWorld(async (world) => {
  await world.signIn()
  assert.not.match(stored(world), /access-|refresh-|client-/)
  const moved = stored(world).replace(
    JSON.stringify(keyOf({ name: 'far', url: world.mcp.url })),
    JSON.stringify(keyOf({ name: 'far', url: 'https://evil.example/mcp' })),
  )
  assert.match(moved, 'evil.example')
  writeFileSync(join(world.folder, 'mcp-logins.json'), moved)
  await world.restart()
  const error = await failure(
    world.logins.bearer({ name: 'far', url: 'https://evil.example/mcp' }, undefined).token(never()),
  )
  assert.is(error instanceof AppError && error.code, 'settings_unreadable')
}))

test('a file that is no list of logins is refused and left as it is', () => withWorld(async (world) => {
  for (const content of ['{"version":1}', '{"version":1,"logins":{"[]":"x"}}', '{"version":2,"logins":{}}', 'x']) {
    writeFileSync(join(world.folder, 'mcp-logins.json'), content)
    await world.restart()
    const error = await failure(world.bearer().token(never()))
    assert.is(error instanceof AppError && error.code, 'settings_unreadable')
    assert.is(stored(world), content)
  }
}))

const url = 'https://mcp.example/api/mcp'
const source = {
  issuer: 'https://as.example',
  endpoint: 'https://as.example/t',
  resource: 'https://mcp.example/api',
  client: { id: 'c', secret: 's', method: 'client_secret_post' },
} as const
const login = {
  accessToken: 'access-token', refreshToken: 'refresh-token', scope: 'a b', expiresAt: 5_000_123, obtainedAt: 1_000_456,
  source,
}

test('a login as settings hold it comes back as it was', () => {
  assert.equal(loginOf(JSON.parse(JSON.stringify(stateOf(login))), url), login)
  const bare = { ...login, refreshToken: undefined, scope: undefined, expiresAt: undefined, source: undefined }
  assert.equal(loginOf(stateOf(bare), url), bare)
})

test('a login of settings is for the server whose resource it names', () => {
  for (const other of [
    'https://mcp.example/apix', 'https://mcp.example/', 'https://evil.example/api', 'http://mcp.example/api', 'x',
  ]) {
    assert.is(loginOf(stateOf(login), other), undefined, other)
  }
  assert.is(loginOf({ tokens: {} }, url), undefined)
  assert.is(loginOf(undefined, url), undefined)
})

test(
  'a token in settings that another program has made is used, and cannot be renewed',
  () => withWorld(async (world) => {
    const state = {
      tokens: { access_token: 'by-another', refresh_token: 'r' }, client_info: { client_id: 'c' }, token_expires_at: 1,
    }
    const bearer = world.bearer(state)
    assert.is(await tokenOf(bearer), 'by-another')
    assert.ok((await failure(bearer.renewed('by-another', never()))) instanceof LoginRequiredError)
    assert.ok(await isOver(bearer), 'it was refused')
    assert.is(await tokenOf(world.bearer({ tokens: { access_token: 'a-new-one' } })), 'a-new-one')
    await world.signIn()
    assert.match(await tokenOf(bearer), /^access-/)
  }),
)

test('of the login that is kept and that of the settings the newer one counts', () => {
  const kept = { login, since: login.obtainedAt, refused: 'refused-token' }
  const [older, newer] = [{ ...login, obtainedAt: 1 }, { ...login, obtainedAt: login.obtainedAt + 1 }]
  assert.is(newest(kept, undefined), login)
  assert.is(newest(undefined, older), older)
  assert.is(newest(undefined, undefined), undefined)
  assert.is(newest(kept, older), login)
  assert.is(newest(kept, newer), newer)
  const timeless = { ...login, obtainedAt: 0 }
  assert.is(newest(kept, timeless), timeless)
  assert.is(newest(kept, { ...timeless, accessToken: 'refused-token' }), login)
})

test('logins are limited: that which has not changed for longest makes room', () => {
  let logins: KeptLogins = new Map()
  for (let count = 0; count < 1001; count++) {
    logins = withKept(logins, String(count), { login: undefined, since: count, refused: undefined })
  }
  logins = withKept(logins, '5', { login, since: 1, refused: undefined })
  assert.equal([logins.size, logins.has('0'), [...logins.keys()].at(-1)], [1000, false, '5'])
})

test('a close waits for a renewal, and keeps what it has brought', () => withWorld(async (world) => {
  await world.signIn()
  world.now += hour
  const giving = deferred<void>()
  world.behaviour.giving = giving.promise
  const renewal = tokenOf(world.bearer())
  await until(() => world.grants('refresh_token').length === 1)
  const restarting = world.restart()
  // A close that does not wait would abort the renewal in this time.
  await sleep(30)
  giving.resolve()
  await restarting
  assert.is(await tokenOf(world.bearer()), await renewal)
  assert.is(world.grants('refresh_token').length, 1)
}))

test('a change of a login names its server, also when the name ends in a backslash or has two addresses', async () => {
  const { folder, remove } = makeFolder()
  const told: string[][] = []
  const file = openLoginFile({
    path: join(folder, 'mcp-logins.json'),
    cipher: createCipher({ keys: [randomBytes(32)], random: randomBytes }),
    setMasked: createMaskedValues(createMasker()),
    onChange: (before, after) => changeLog({ ...silentLog, info: (_message, fields) => {
      told.push([String(fields?.['names'])])
    } }, 'changed')(before, after),
  })
  const ended = { login: undefined, since: 1, refused: undefined }
  const [first, second] = ['https://a.test', 'https://b.test'].map((url) => keyOf({ name: 'odd\\', url }))
  assert.ok(first !== undefined && second !== undefined)
  try {
    await file.update((logins) => new Map([...logins, [first, ended], [second, ended]]))
    await file.update((logins) => new Map([...logins, [first, { ...ended, since: 2 }]]))
    assert.equal(told, [['"odd\\\\"'], ['"odd\\\\"']])
  } finally {
    remove()
  }
})

test.run()
