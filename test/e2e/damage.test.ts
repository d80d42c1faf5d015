/**
 * Files with other bytes than the server wrote, as an operator and a client meet them (decisions 7 and 8): a flipped
 * bit costs one line and is reported, and a cache is made again.
 */
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { verifyConversation } from '../../src/storage/verify.ts'
import { makeFolder } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { inServer, runToEnd, startServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, storedOf, talkTo, type JsonEvent, type Talk } from './talk.ts'

const test = suite('damage')

interface Stored {
  readonly folder: string
  readonly id: string
  /** The conversation's own folder. */
  readonly directory: string
  readonly info: unknown
  readonly events: readonly JsonEvent[]
}

const made = makeFolder()
let original: Stored | undefined
test.after(made.remove)

/** A conversation with a turn of the scripted agent, made once. */
async function makeStored(folder: string): Promise<Stored> {
  const server = await startServer({ folder })
  const talk = await startTalk(server, { agent: { kind: 'Agent', llm: { model: 'demo/scripted' } } })
  await talk.send('hello')
  await talk.reaches('finished')
  await talk.send('the last message', false)
  await talk.post('/secrets', { secrets: { KEPT: 'value' } })
  const [info, events] = [(await talk.get()).json, await talk.events()]
  await server.close()
  return { folder, id: talk.id, directory: join(server.dataDir, 'conversations', talk.id), info, events }
}

/**
 * Returns a test that runs `body` with a copy of the folder, always at the same path, since answers hold paths of the
 * folder.
 */
function withStored(body: (stored: Stored) => Promise<void>): () => Promise<void> {
  return async () => {
    const kept = `${made.folder}.kept`
    original ??= await makeStored(made.folder)
    cpSync(made.folder, kept, { recursive: true })
    try {
      await body(original)
    } finally {
      rmSync(made.folder, { recursive: true })
      renameSync(kept, made.folder)
    }
  }
}

const logOf = ({ directory }: Stored): string => join(directory, 'events.jsonl')

/** Flips a bit of the log at a byte; a negative one counts from behind. */
function flip(stored: Stored, at: number, bit = 0): void {
  const bytes = readFileSync(logOf(stored))
  const place = at < 0 ? bytes.length + at : at
  bytes[place] = (bytes[place] ?? 0) ^ (1 << bit)
  writeFileSync(logOf(stored), bytes)
}

function forgetCaches({ directory }: Stored): void {
  for (const name of ['events.index', 'state.json']) rmSync(join(directory, name), { force: true })
}

async function assertGoesOn(talk: Talk): Promise<void> {
  assert.is((await talk.send('hello')).status, 200)
  await talk.reaches('finished')
}

/** The place of an event in the log: of its line's hash, or of its JSON. */
function placeOf(stored: Stored, event: JsonEvent | undefined): number {
  return readFileSync(logOf(stored), 'latin1').indexOf(
    `{"kind":"${textAt(event, 'kind')}","id":"${textAt(event, 'id')}"`,
  )
}

for (const caches of ['with', 'without']) {
  test(
    `one flipped bit, ${caches} the caches, costs one event, which the log of the server and verify name`,
    withStored(async (stored) => {
      const { folder, id, events } = stored
      const lost = events.findIndex((event) => event['kind'] === 'MessageEvent' && event['source'] === 'agent')
      flip(stored, placeOf(stored, events[lost]) + 90)
      if (caches === 'without') forgetCaches(stored)
      await inServer(folder, async (server) => {
        const talk = talkTo(server, id)
        assert.equal(await talk.events(), events.filter((_event, number) => number !== lost))
        assert.is((await talk.get(`/events/${textAt(events[lost], 'id')}`)).status, 404)
        assert.equal((await talk.get(`/events/${textAt(events[lost + 1], 'id')}`)).json, events[lost + 1])
        const client = await server.socket(id, `?after=${textAt(events[lost - 1], 'id')}`)
        await client.until(() => storedOf(client).length === events.length - lost - 1)
        assert.equal(storedOf(client), events.slice(lost + 1))
        client.close()
        const report = server.log.find((line) => line.includes('A damaged part of a log was set aside')) ?? ''
        assert.match(report, stored.directory)
        assert.match(report, `"offset\\":${placeOf(stored, events[lost]) - 33}`)
        await assertGoesOn(talk)
      })
      const { code, stdout } = await runToEnd(['verify', '--data-dir', join(folder, 'data')], folder)
      assert.is(code, 1)
      const line = readFileSync(logOf(stored), 'latin1').slice(0, placeOf(stored, events[lost])).split('\n').length
      const place = `at byte ${placeOf(stored, events[lost]) - 33} \\(line ` +
        `${line}${caches === 'with' ? `, event ${lost}` : ''}(?:, id [0-9a-f-]+)?\\)`
      assert.match(stdout, new RegExp(`^${id}  events\\.jsonl ${place}: the line does not fit the chain$`, 'm'))
      assert.is(stdout.trim().split('\n').length, 2, stdout)
    }),
  )
}

test('no flipped bit of a line takes a conversation away, caches or none', withStored(async (stored) => {
  const sound = readFileSync(logOf(stored))
  const starts = [0, ...[...sound.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1)].slice(0, -1)
  for (const [number, begin] of starts.entries()) {
    // The first two make the conversation; of the others a few will do.
    if (number > 2 && number % 5 !== 0) continue
    writeFileSync(logOf(stored), sound)
    forgetCaches(stored)
    // In the hash, in the JSON, or in the line feed of the previous line.
    flip(stored, [begin + 5, begin + 40, Math.max(0, begin - 1)][number % 3] ?? 0, number % 8)
    await inServer(stored.folder, async (server) => {
      const talk = talkTo(server, stored.id)
      const left = await talk.events()
      assert.ok(left.length >= stored.events.length - 1, `line ${number}: ${left.length} of ${stored.events.length}`)
      const known = new Set(stored.events.map((event) => JSON.stringify(event)))
      assert.ok(
        left.every((event) => {
          return known.has(JSON.stringify(event)) ||
            event['kind'] === 'ConversationErrorEvent' ||
            member(event, 'key') === 'execution_status'
        }),
        `line ${number}`,
      )
      assert.is((await talk.send('more', false)).status, 200, `line ${number}`)
    })
  }
}))

test('a fork is there with a flipped bit in any of its own lines', withStored(async (stored) => {
  await inServer(stored.folder, async (server) => {
    const fork = textAt((await talkTo(server, stored.id).post('/fork')).json, 'id')
    await server.server.close()
    const own = { ...stored, directory: join(server.dataDir, 'conversations', fork) }
    const sound = readFileSync(logOf(own))
    const lines = sound.toString('latin1').split('\n')
    for (const back of [2, 3, 4]) {
      writeFileSync(logOf(own), sound)
      forgetCaches(own)
      flip(own, lines.slice(0, -back).join('\n').length + 50)
      await inServer(stored.folder, async (again) => {
        assert.is((await talkTo(again, fork).get()).status, 200, `line ${back} from behind`)
        assert.equal(await talkTo(again, fork).events(), stored.events)
      })
    }
  })
}))

const rebuilt: readonly (readonly [what: string, spoil: (stored: Stored) => void])[] = [
  ['index and state that are gone', forgetCaches],
  ['an index that is gone', ({ directory }) => rmSync(join(directory, 'events.index'))],
  ['a state that is gone', ({ directory }) => rmSync(join(directory, 'state.json'))],
  ['an index and a state that are empty',
    ({ directory }) => ['events.index', 'state.json'].forEach((name) => truncateSync(join(directory, name)))],
  ['an index of other bytes',
    ({ directory }) => writeFileSync(join(directory, 'events.index'), Buffer.alloc(16 * 7, 0xa5))],
  [
    'a state of another log',
    ({ directory }) =>
      writeFileSync(join(directory, 'state.json'), '{"line":{"offset":0,"hash":"00"},"check":"x","state":{}}'),
  ],
  ['temporary files of a crash', ({ directory, folder }) => {
    for (const place of [directory, join(folder, 'data')]) {
      writeFileSync(join(place, '.state.json.0123456789ab.tmp'), 'half')
    }
    writeFileSync(join(folder, 'data', 'temporary', `${randomUUID()}.0123456789ab`), 'half')
  }],
  ['folders beside it that are no conversations', ({ folder }) => {
    writeFileSync(join(folder, 'data', 'conversations', 'notes.txt'), 'of the operator')
  }],
]
for (const [what, spoil] of rebuilt) {
  test(`gives the same answers after a start with ${what}`, withStored(async (stored) => {
    spoil(stored)
    await inServer(stored.folder, async (server) => {
      const talk = talkTo(server, stored.id)
      assert.equal((await talk.get()).json, stored.info)
      assert.equal(listAt((await server.rest.get('/api/conversations/search')).json, 'items'), [stored.info])
      assert.equal(await talk.events(), stored.events)
      await assertGoesOn(talk)
    })
    assert.equal(readdirSync(join(stored.folder, 'data', 'temporary')), [])
    assert.equal((await verifyConversation({ directory: stored.directory, kinds: eventKinds })).issues, [])
  }))
}

test.run()
