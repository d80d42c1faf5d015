/** Commands of clients over REST, run by a real shell: outputs, exit codes, limits, and that nothing is left. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { listAt, member, textAt, type RestResponse } from '../../support/rest.ts'
import { inServer, withServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { isAlive, makeFolder, until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/bash commands')

function execute({ rest }: TestServer, command: string, more: object = {}): Promise<RestResponse> {
  return rest.post('/api/bash/execute_bash_command', { command, ...more })
}

function withBash(body: (server: TestServer) => Promise<void>, options?: TestServerOptions): () => Promise<void> {
  return () => withServer(body, options)
}
const search = '/api/bash/bash_events/search'

test('runs a command to its end, and gives its output and exit code', withBash(async (server) => {
  const { status, json } = await execute(server, 'echo out; echo err >&2; exit 3')
  assert.is(status, 200)
  assert.match(textAt(json, 'id'), /^[0-9a-f]{32}$/)
  assert.match(textAt(json, 'timestamp'), /^\d{4}-.*Z$/)
  const { kind, order, exit_code, stdout, stderr } = Object(json)
  assert.equal([kind, order, exit_code, stdout, stderr], ['BashOutput', 0, 3, 'out\n', 'err\n'])
  const silent = (await execute(server, 'true')).json
  assert.equal([member(silent, 'exit_code'), member(silent, 'stdout'), member(silent, 'stderr')], [0, null, null])
}))

test('runs in the folder that is named, else in the home, with an empty input', withBash(async (server) => {
  assert.is(member((await execute(server, 'pwd; cat')).json, 'stdout'), `${server.folder}\n`)
  assert.is(member((await execute(server, 'pwd', { cwd: '/' })).json, 'stdout'), '/\n')
  const { json } = await execute(server, 'pwd', { cwd: join(server.folder, 'none') })
  assert.is(member(json, 'exit_code'), -1)
  assert.match(textAt(json, 'stderr'), 'none')
}))

test('gives a command no key and no secret, and masks what it prints', withBash(async (server) => {
  await server.rest.put('/api/settings/secrets', { name: 'MY_TOKEN', value: 'a-value-that-is-secret' })
  const { json } = await execute(server, 'env; echo a-value-that-is-secret')
  const text = textAt(json, 'stdout')
  assert.is(text.includes(server.key), false)
  assert.is(text.includes('MY_TOKEN'), false)
  assert.is(text.includes('a-value-that-is-secret'), false)
  assert.match(text, /^PATH=/m)
  const told = (await server.rest.get(search)).text
  assert.is(told.includes('a-value-that-is-secret'), false)
  assert.is(server.log.some((line) => line.includes('echo')), false)
}))

test('ends a command at its time with all that it started, and keeps what it printed', withBash(async (server) => {
  const mark = join(server.folder, 'mark')
  const command = `trap 'touch ${mark}; exit 5' TERM; echo begun; sleep 300 & wait`
  const { json } = await execute(server, command, { timeout: 1 })
  assert.equal([member(json, 'exit_code'), member(json, 'stdout')], [-1, 'begun\n'])
  assert.match(textAt(json, 'stderr'), 'did not end within 1 s')
  assert.ok(existsSync(mark))
}))

test('leaves nothing of what a command put into the background', withBash(async (server) => {
  const { json } = await execute(server, 'sleep 300 > /dev/null 2>&1 & echo $!')
  const pid = Number(member(json, 'stdout'))
  assert.ok(pid > 0)
  assert.is(isAlive(pid), false)
}))

test('cuts a long output into several, and ends a command that prints without end', withBash(async (server) => {
  const { json } = await execute(server, "head -c 3000000 /dev/zero | tr '\\0' x")
  const id = textAt(json, 'command_id')
  const outputs = listAt((await server.rest.get(`${search}?command_id__eq=${id}`)).json, 'items')
  assert.ok(outputs.length > 1)
  assert.equal(outputs.map((output) => member(output, 'order')), outputs.map((_, index) => index))
  assert.equal(outputs.slice(0, -1).map((output) => member(output, 'exit_code')), outputs.slice(0, -1).map(() => null))
  assert.is(outputs.map((output) => String(member(output, 'stdout') ?? '')).join('').length, 3_000_000)
  const last = await server.rest.get(`${search}?command_id__eq=${id}&order__gt=${outputs.length - 2}`)
  assert.is(listAt(last.json, 'items').length, 1)
  const endless = (await execute(server, 'yes')).json
  assert.is(member(endless, 'exit_code'), -1)
  assert.match(textAt(endless, 'stderr'), 'printed more than')
}))

test('starts a command at once, and answers 503 when too many run', withBash(async (server) => {
  const started = await server.rest.post('/api/bash/start_bash_command', { command: 'sleep 300', cwd: '/', timeout: 9 })
  const { kind, command, cwd, timeout } = Object(started.json)
  assert.equal([kind, command, cwd, timeout], ['BashCommand', 'sleep 300', '/', 9])
  assert.is((await execute(server, 'true')).status, 503)
  const cleared = await server.rest.delete('/api/bash/bash_events')
  assert.is(Number(member(cleared.json, 'cleared_count')) >= 1, true)
  assert.equal((await server.rest.get(search)).json, { items: [], next_page_id: null })
  await until(async () => (await execute(server, 'true')).status === 200)
}, { bashLimit: 1 }))

test('stops one command with all that it started, and no other', withBash(async (server) => {
  const { rest } = server
  const start = async (command: string): Promise<string> => {
    return textAt((await rest.post('/api/bash/start_bash_command', { command })).json, 'id')
  }
  const stop = (id: string): Promise<RestResponse> => rest.post(`/api/bash/bash_commands/${id}/stop`)
  const pids = join(server.folder, 'pids')
  const [id, other] = [await start(`echo begun; sleep 300 & echo $! > ${pids}; wait`), await start('sleep 300')]
  await until(() => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'))
  const dashed = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase()
  const { status, json } = await stop(dashed)
  assert.equal([status, member(json, 'command_id'), member(json, 'exit_code')], [200, id, -1])
  assert.equal([member(json, 'stdout'), member(json, 'stderr')], [
    'begun\n', '[The command was ended: a client stopped it]\n',
  ])
  assert.is(isAlive(Number(readFileSync(pids, 'utf8'))), false)
  for (const none of [id, 'x', '0'.repeat(32)]) assert.is((await stop(none)).status, 404)
  const outputs = await rest.get(`${search}?command_id__eq=${other}`)
  assert.equal(listAt(outputs.json, 'items'), [])
  assert.is((await stop(other)).status, 200)
}))

test('searches, pages and gives single events', withBash(async (server) => {
  const { rest } = server
  for (const word of ['a', 'b', 'c']) await execute(server, `echo ${word}`)
  const all = listAt((await rest.get(search)).json, 'items')
  assert.equal(all.map((event) => member(event, 'kind')), Array.from({ length: 6 }, (_, index) => {
    return index % 2 === 0 ? 'BashCommand' : 'BashOutput'
  }))
  const seen: unknown[] = []
  let next: unknown = ''
  while (typeof next === 'string') {
    const { json } = await rest.get(`${search}?limit=4&sort_order=TIMESTAMP_DESC&page_id=${next}`)
    seen.push(...listAt(json, 'items'))
    next = member(json, 'next_page_id')
  }
  assert.equal(seen, [...all].reverse())
  const commands = (await rest.get(`${search}?kind__eq=BashCommand`)).json
  assert.equal(listAt(commands, 'items').map((event) => member(event, 'command')), ['echo a', 'echo b', 'echo c'])
  const since = encodeURIComponent(textAt(all, 4, 'timestamp'))
  assert.is(listAt((await rest.get(`${search}?timestamp__gte=${since}`)).json, 'items').length, 2)
  assert.is(listAt((await rest.get(`${search}?timestamp__lt=${since}`)).json, 'items').length, 4)
  const id = textAt(all, 1, 'id')
  assert.equal((await rest.get(`/api/bash/bash_events/${id}`)).json, all[1])
  assert.is((await rest.get('/api/bash/bash_events/none')).status, 404)
  const batch = await rest.send('GET', '/api/bash/bash_events/', { body: [id, 'none', textAt(all, 0, 'id')] })
  assert.equal(batch.json, [all[1], null, all[0]])
  for (const body of [undefined, {}, [1]]) {
    assert.is((await rest.send('GET', '/api/bash/bash_events/', { body })).status, 422)
  }
  for (const wrong of [{}, { command: '' }, { command: 'x', timeout: 0 }, { command: 1 }]) {
    assert.is((await rest.post('/api/bash/start_bash_command', wrong)).status, 422)
  }
}))

test('keeps the history over a restart, without what is damaged, and within its limit', async () => {
  const { folder, remove } = makeFolder()
  const path = join(folder, 'data', 'bash-events.jsonl')
  try {
    await inServer(folder, async (server) => void (await execute(server, 'echo kept')))
    writeFileSync(path, `{"torn\n[]\n${readFileSync(path, 'utf8')}{"id":"x"`)
    await inServer(folder, async ({ rest }) => {
      const items = listAt((await rest.get(search)).json, 'items')
      assert.equal(items.map((event) => member(event, 'kind')), ['BashCommand', 'BashOutput'])
      assert.equal((await rest.delete('/api/bash/bash_events')).json, { cleared_count: 2 })
    })
    assert.is(readFileSync(path, 'utf8'), '')
  } finally {
    remove()
  }
  await withServer(async (server) => {
    const first = textAt((await execute(server, 'echo dropped')).json, 'id')
    for (let index = 0; index < 12; index++) await execute(server, `echo ${index}; head -c 500 /dev/zero | tr '\\0' x`)
    const items = listAt((await server.rest.get(search)).json, 'items')
    assert.ok(items.length < 16, String(items.length))
    assert.is((await server.rest.get(`/api/bash/bash_events/${textAt(items, 0, 'id')}`)).status, 200)
    assert.is((await server.rest.get(`/api/bash/bash_events/${first}`)).status, 404)
    assert.match(textAt(items, items.length - 1, 'stdout'), /^11\n/)
    assert.ok(readFileSync(join(server.dataDir, 'bash-events.jsonl')).length < 5000)
  }, { bashHistoryBytes: 4096 })
})

test('ends what runs when the server closes', async () => {
  const { folder, remove } = makeFolder()
  const mark = join(folder, 'pid')
  try {
    await inServer(folder, async ({ rest }) => {
      await rest.post('/api/bash/start_bash_command', { command: `echo $$ > ${mark}; sleep 300` })
      await until(() => existsSync(mark) && readFileSync(mark, 'utf8').endsWith('\n'))
    })
    assert.is(isAlive(Number(readFileSync(mark, 'utf8'))), false)
  } finally {
    remove()
  }
})

test.run()
