/**
 * A server that loses power: everything that it changes on disk is noted while clients make it write all its kinds of
 * files, and each folder that a moment could have left (`support/recorded-disk`) is opened by another server.
 *
 * For every thing that clients changed it is known between which two moments that was under way: before, the old value
 * must be found, afterwards the new one, and in between one of them.
 */
import * as assert from 'uvu/assert'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { changeAgents } from '../../src/parts/install/folder.ts'
import { readInstallation, writeInstallation, type Installation } from '../../src/parts/install/record.ts'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { verifyConversation } from '../../src/storage/verify.ts'
import { below, seeded } from '../storage/samples.ts'
import { makeFolder } from '../support/processes.ts'
import { RecordedDisk } from '../support/recorded-disk.ts'
import { listAt, member, textAt, type RestResponse } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { messagesOf, talkTo, userMessage } from './talk.ts'

/** The changes of one thing: its new values, and the moments before and after each change. */
type Changes = { readonly from: number, readonly until: number, readonly value: unknown }[]

interface Recording {
  readonly disk: RecordedDisk
  readonly things: Map<string, Changes>
  change(thing: string, value: unknown, ask: () => Promise<unknown>): Promise<void>
}

/** Loses power at so many moments, by chance, or at all of them; says how many there are. */
export async function losePower(seed: number, options: { readonly times: number | 'all' }): Promise<number> {
  const { folder, remove } = makeFolder()
  try {
    const recording = await record(folder)
    const last = recording.disk.moment
    const random = seeded(seed)
    const moments = options.times === 'all'
      ? Array.from({ length: last + 1 }, (_, moment) => moment)
      : Array.from({ length: options.times }, () => below(random, last + 1))
    for (const moment of moments) await checkAt(recording, moment, seed)
    return last
  } finally {
    remove()
  }
}

async function record(folder: string): Promise<Recording> {
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  const disk = new RecordedDisk(dataDir)
  const things = new Map<string, Changes>()
  const stop = disk.start()
  try {
    const server = await startServer({ folder })
    await work(server, {
      disk,
      things,
      async change(thing, value, ask) {
        const from = disk.moment
        await ask()
        things.set(thing, [...(things.get(thing) ?? []), { from, until: disk.moment, value }])
      },
    })
    await server.close()
  } finally {
    stop()
  }
  return { disk, things, change: () => Promise.reject(new Error('The recording has ended')) }
}

const ids = {
  first: '11111111-1111-4111-8111-111111111111',
  second: '22222222-2222-4222-8222-222222222222',
  fork: '33333333-3333-4333-8333-333333333333',
}

/** Everything that clients can have written, some of it at the same time. */
async function work(server: TestServer, { change }: Recording): Promise<void> {
  const { rest, dataDir } = server
  const [first, second] = [talkTo(server, ids.first), talkTo(server, ids.second)]
  const settings = (number: number): Promise<void> =>
    change('settings', number, () => {
      return done(rest.patch('/api/settings', { conversation_settings_diff: { max_iterations: number } }))
    })
  const secret = (value: string): Promise<void> =>
    change('secret', value, () => done(rest.put('/api/settings/secrets', { name: 'A_SECRET', value })))
  const create = (id: string): Promise<void> =>
    change(id, { title: null, messages: [] }, () => done(rest.post('/api/conversations', {
      conversation_id: id, autotitle: false,
      agent: {
        kind: 'Agent', llm: { model: 'demo/scripted', api_key: 'key of a model' }, tools: [{ name: 'task_tracker' }],
      },
    })))
  await Promise.all([create(ids.first), settings(11), secret('the first value')])
  const messages: string[] = []
  for (const text of ['hello', 'a second one', 'a third one']) {
    messages.push(text)
    await change(ids.first, { title: null, messages: [...messages] }, () => {
      return done(first.send(text, text !== 'a second one'))
    })
    if (text === 'a second one') await Promise.all([create(ids.second), settings(12)])
  }
  await first.reaches('finished')
  await change(ids.first, { title: 'Named', messages }, () => done(rest.patch(first.path, { title: 'Named' })))
  await change('agent', '1.0.0', () => install(dataDir, '1.0.0'))
  const large = 'x'.repeat(3000)
  await Promise.all([
    change(ids.fork, { title: 'Forked', messages }, () => done(first.post('/fork', { id: ids.fork, title: 'Forked' }))),
    change(ids.second, { title: null, messages: [large] }, () => done(second.send(large, false))),
    secret('the second value'),
  ])
  await change('agent', '2.0.0', () => install(dataDir, '2.0.0'))
  await Promise.all([change(ids.second, undefined, () => done(rest.delete(second.path))), settings(13)])
}

async function done(asking: Promise<RestResponse>): Promise<void> {
  const { status, text } = await asking
  assert.ok(status < 300, `${status} ${text}`)
}

async function install(dataDir: string, version: string): Promise<void> {
  const installation: Installation = {
    name: 'codex', packageName: 'codex', version, folder: `codex@${version}`, entry: 'main.js', runsOnNode: true,
    nodeVersion: 'v20.0.0',
    installedAt: '2026-01-01T00:00:00Z', verifiedAt: '2026-01-01T00:00:00Z',
    files: [{ path: 'main.js', size: 1, sha256: '0'.repeat(64) }],
  }
  const agentsDir = join(dataDir, 'agents')
  await changeAgents(agentsDir, Date.now, () => writeInstallation(agentsDir, installation))
}

async function checkAt(recording: Recording, moment: number, seed: number): Promise<void> {
  const { folder, remove } = makeFolder()
  try {
    await checkIn(folder, recording, moment, seed)
  } finally {
    remove()
  }
}

async function checkIn(folder: string, { disk, things }: Recording, moment: number, seed: number): Promise<void> {
  const label = `seed ${seed} moment ${moment} of ${disk.moment}`
  disk.survive(moment, join(folder, 'data'), seeded(seed + moment))
  const agent = await readInstallation(join(folder, 'data', 'agents'), 'codex')
  const server = await startServer({ folder })
  try {
    for (const [thing, changes] of things) {
      const found = thing === 'agent' ? agent?.version : await look(server, thing)
      const allowed = [...changes].filter(({ from }) => from < moment).map(({ value }) => value)
      const sure = changes.filter(({ until }) => until <= moment).length
      // Before its first change there is nothing, or the default of a setting.
      const values = sure === 0 ? [undefined, ...allowed] : allowed.slice(sure - 1)
      const isAllowed = values.some((value) => JSON.stringify(value) === JSON.stringify(found))
      assert.ok(isAllowed, `${label}: ${thing} is ${JSON.stringify(found)}, expected one of ${JSON.stringify(values)}`)
    }
    for (const id of await listed(server)) {
      assert.is((await server.rest.post(`/api/conversations/${id}/events`, userMessage('more'))).status, 200, label)
    }
  } finally {
    await server.close()
  }
  const conversations = join(folder, 'data', 'conversations')
  for (const id of readdirSync(conversations)) {
    assert.equal(
      (await verifyConversation({ directory: join(conversations, id), kinds: eventKinds })).issues, [], label,
    )
  }
}

async function listed({ rest }: TestServer): Promise<string[]> {
  return listAt((await rest.get('/api/conversations/search')).json, 'items').map((item) => textAt(item, 'id'))
}

async function look(server: TestServer, thing: string): Promise<unknown> {
  const { rest } = server
  if (thing === 'settings') {
    const number = member((await rest.get('/api/settings')).json, 'conversation_settings', 'max_iterations')
    return number === 500 ? undefined : number
  }
  if (thing === 'secret') {
    const { status, text } = await rest.get('/api/settings/secrets/A_SECRET')
    return status === 404 ? undefined : text
  }
  const talk = talkTo(server, thing)
  const { status, json } = await talk.get()
  assert.is(status === 200, (await listed(server)).includes(thing))
  return status === 404
    ? undefined
    : { title: member(json, 'title'), messages: messagesOf(await talk.events(), 'user') }
}
