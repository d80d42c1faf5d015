import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { createStamper, parseMicros } from '../../../src/base/stamp.ts'
import { EventReader, idOf, type EventQuery } from '../../../src/conversation/log/event-reader.ts'
import { eventKinds, toEvent, type EventDraft } from '../../../src/schema/generated/events.ts'
import { LineCache } from '../../../src/storage/line-cache.ts'
import { openLog, type ConversationLog } from '../../../src/storage/log.ts'
import { act, say, startMillis, withWorld } from '../../support/conversation.ts'

const test = suite('conversation/log/event-reader')

interface History {
  readonly log: ConversationLog
  readonly events: EventReader
  readonly ids: readonly string[]
  readonly times: readonly string[]
}

/** A log of these events, one second between them. */
async function withHistory(
  drafts: readonly EventDraft[], body: (history: History) => Promise<void>, cache = new LineCache(),
): Promise<void> {
  await withWorld(async ({ folder }) => {
    const log = await openLog({
      directory: folder, kinds: eventKinds, cache, onDamage: () => undefined,
    })
    let now = startMillis
    const next = createStamper(() => (now += 1000), (size) => Buffer.alloc(size, 7))
    const events = drafts.map((draft) => {
      const { id, timestamp } = next()
      return toEvent({ ...draft, id, timestamp })
    })
    for (const event of events) log.append(JSON.stringify(event))
    await log.durable()
    try {
      await body({
        log,
        events: new EventReader(log),
        ids: events.map((event) => event.id),
        times: events.map((event) => event.timestamp),
      })
    } finally {
      await log.close()
    }
  })
}

const user = (content: string): EventDraft => ({
  kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content },
})
const six = [
  user('Hello World'), say('hello you'), act('call-1'), user('bye'), { kind: 'PauseEvent' }, say('Straße'),
] as const

async function found({ events, ids }: History, query: Partial<EventQuery>): Promise<string> {
  const { items, nextPageId } = await events.page({ newestFirst: false, limit: 100, ...query })
  const numbers = items.map((item) => ids.indexOf(idOf(item)))
  return numbers.join(' ') + (nextPageId === null ? '' : ` then ${ids.indexOf(nextPageId)}`)
}

test('a count by kind takes one turn, and a sparse page keeps its own bytes only', async () => {
  const drafts = Array.from({ length: 600 }, (_, index): EventDraft => (index % 60 === 0 ? { kind: 'PauseEvent' } :
    say('x'.repeat(300))))
  await withHistory(drafts, async ({ events }) => {
    let hasOtherWorkRun = false
    setImmediate(() => (hasOtherWorkRun = true))
    assert.is(await events.count({ kind: 'PauseEvent' }), 10)
    assert.is(hasOtherWorkRun, false)
    const { items } = await events.page({ kind: 'PauseEvent', newestFirst: false, limit: 20 })
    assert.is(items.length, 10)
    for (const item of items) assert.ok(item.buffer.byteLength <= 16 * 1024, String(item.buffer.byteLength))
  }, new LineCache({ logBytes: 0 }))
})

test('finds events by every filter, alone and together', async () => {
  await withHistory(six, async (history) => {
    const cases: readonly (readonly [query: Partial<EventQuery>, found: string])[] = [
      [{}, '0 1 2 3 4 5'],
      [{ newestFirst: true }, '5 4 3 2 1 0'],
      [{ kind: 'MessageEvent' }, '0 1 3 5'],
      [{ kind: 'openhands.sdk.event.llm_convertible.message.MessageEvent' }, '0 1 3 5'],
      [{ kind: 'Message' }, ''],
      [{ kind: 'messageevent' }, ''],
      [{ source: 'agent' }, '1 2 5'],
      [{ source: 'environment' }, ''],
      [{ kind: 'MessageEvent', source: 'user' }, '0 3'],
      [{ body: 'HELLO' }, '0 1'],
      [{ body: 'straSSe' }, ''],
      [{ body: 'straß' }, '5'],
      [{ body: 'call' }, ''],
      [{ body: '' }, '0 1 3 5'],
      [{ body: 'hello', source: 'user', newestFirst: true }, '0'],
    ]
    for (const [query, expected] of cases) {
      assert.is(await found(history, query), expected, JSON.stringify(query))
      const { newestFirst: _, ...filter } = query
      assert.is(
        await history.events.count(filter), expected === '' ? 0 : expected.split(' ').length, JSON.stringify(query),
      )
    }
  })
})

test('finds text in thoughts and in what was added to a message', async () => {
  const drafts: readonly EventDraft[] = [
    {
      kind: 'MessageEvent',
      source: 'user',
      llm_message: { role: 'user' },
      extended_content: [{ type: 'text', text: 'Added' }],
    },
    { kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', reasoning_content: 'Thought' } },
  ]
  await withHistory(drafts, async (history) => {
    assert.is(await found(history, { body: 'added' }), '0')
    assert.is(await found(history, { body: 'thought' }), '1')
  })
})

test('from is inclusive and before is exclusive, to the microsecond', async () => {
  await withHistory(six, async (history) => {
    const at = (number: number): number => parseMicros(history.times[number] ?? '') ?? 0
    const cases: readonly (readonly [query: Partial<EventQuery>, found: string])[] = [
      [{ from: at(2) }, '2 3 4 5'],
      [{ from: at(2) + 1 }, '3 4 5'],
      [{ before: at(2) }, '0 1'],
      [{ before: at(2) + 1 }, '0 1 2'],
      [{ from: at(1), before: at(4), newestFirst: true }, '3 2 1'],
      [{ from: at(4), before: at(1) }, ''],
      [{ from: at(5) + 1 }, ''],
      [{ before: 0 }, ''],
      [{ from: at(1), before: at(4), kind: 'MessageEvent' }, '1 3'],
    ]
    for (const [query, expected] of cases) {
      assert.is(await found(history, query), expected)
      assert.is(await history.events.count(query), expected === '' ? 0 : expected.split(' ').length)
    }
  })
})

test('pages join, in both directions, with and without a filter', async () => {
  await withHistory(six, async (history) => {
    for (const filter of [{}, { kind: 'MessageEvent' }, { body: 'e', newestFirst: true }, { newestFirst: true }]) {
      const whole = await history.events.page({ newestFirst: false, limit: 100, ...filter })
      const pages: Buffer[] = []
      for (let pageId: string | null | undefined = undefined; pageId !== null; ) {
        const page: Awaited<ReturnType<EventReader['page']>> = await history.events.page({
          newestFirst: false, limit: 2, pageId, ...filter,
        })
        assert.ok(page.items.length <= 2)
        pages.push(...page.items)
        pageId = page.nextPageId
      }
      assert.equal(pages.map(idOf), whole.items.map(idOf))
    }
  })
})

test('names the next event that matches as the next page, and none after an exact fit', async () => {
  await withHistory(six, async (history) => {
    assert.is(await found(history, { kind: 'MessageEvent', limit: 2 }), '0 1 then 3')
    assert.is(await found(history, { kind: 'MessageEvent', limit: 4 }), '0 1 3 5')
    assert.is(await found(history, { newestFirst: true, limit: 2 }), '5 4 then 3')
  })
})

test('an unknown page begins from the start; one outside of the times is moved to their edge', async () => {
  await withHistory(six, async (history) => {
    const { ids, times } = history
    const at = (number: number): number => parseMicros(times[number] ?? '') ?? 0
    assert.is(await found(history, { pageId: 'nonsense' }), '0 1 2 3 4 5')
    assert.is(
      await found(history, { pageId: '00000000-0000-7000-8000-000000000000', newestFirst: true }), '5 4 3 2 1 0',
    )
    assert.is(await found(history, { pageId: ids[0], from: at(3) }), '3 4 5')
    assert.is(await found(history, { pageId: ids[5], before: at(2), newestFirst: true }), '1 0')
    assert.is(await found(history, { pageId: ids[3]?.replaceAll('-', '') }), '3 4 5')
  })
})

test('reads an event by its id in any form, and by no other', async () => {
  await withHistory(six, async ({ events, ids }) => {
    const id = ids[2] ?? ''
    const forms = [id, id.toUpperCase(), id.replaceAll('-', '')]
    for (const form of forms) assert.is(idOf((await events.find(form)) ?? Buffer.alloc(0)), id)
    const otherEnd = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
    for (const unknown of [otherEnd, '', 'x', `${id}0`, '00000000-0000-7000-8000-000000000000']) {
      assert.is(await events.find(unknown), undefined)
    }
    assert.is(events.seqOf(id), 2)
    assert.is(events.seqOf('x'), -1)
  })
})

test('a damaged event is left out of pages and found by no id', async () => {
  await withHistory(six, async (history) => {
    const { log, events, ids } = history
    const read = log.read.bind(log)
    log.read = (number) => (number === 1 ? Promise.resolve(undefined) : read(number))
    const readRange = log.readRange.bind(log)
    log.readRange = async (...range) => {
      const { events, next } = await readRange(...range)
      return { events: events.filter(({ number }) => number !== 1), next }
    }
    assert.is(await found(history, {}), '0 2 3 4 5')
    assert.is(await found(history, { limit: 1 }), '0 then 2')
    assert.is(await found(history, { body: 'hello' }), '0')
    assert.is(await events.find(ids[1] ?? ''), undefined)
    assert.is(await events.finalResponse(), 'Straße')
  })
})

test('finds texts that JSON prints in another way, and texts in long messages', async () => {
  const long = 'x'.repeat(100_000)
  const drafts = [
    user('say "yes"'), user('one\ntwo'), user('\nΣ '), user(`${long}needle`), user('back\\slash'), user('K \u0001 é'),
  ]
  await withHistory(drafts, async (history) => {
    const cases: readonly (readonly [body: string, found: string])[] = [
      ['"YES"', '0'], ['one\nTWO', '1'], ['\nσ', '2'], ['needle', '3'], ['K\\S', '4'], ['k \u0001', '5'], ['É', '5'],
      ['\\n', ''], ['u0001', ''],
    ]
    for (const [body, expected] of cases) assert.is(await found(history, { body }), expected, JSON.stringify(body))
  })
})

test('reads events near each other together, and pages in each direction have all of them once', async () => {
  const drafts = Array.from({ length: 600 }, (_, number) => {
    return user(`${number} ${'y'.repeat(number % 50 === 0 ? 300_000 : 9)}`)
  })
  await withHistory(drafts, async ({ log, events, ids }) => {
    let reads = 0
    const readRange = log.readRange.bind(log)
    log.readRange = (...range) => {
      reads++
      return readRange(...range)
    }
    for (const newestFirst of [false, true]) {
      const seen: number[] = []
      for (let pageId: string | null | undefined; pageId !== null;) {
        const page = await events.page({ newestFirst, limit: 90, pageId, body: ' y' })
        seen.push(...page.items.map((item) => ids.indexOf(idOf(item))))
        pageId = page.nextPageId
      }
      const all = Array.from(drafts.keys())
      assert.equal(seen, newestFirst ? all.toReversed() : all)
    }
    assert.ok(reads < 100, `${reads} reads for 1,200 events`)
  })
})

test('a search lets other work run', async () => {
  await withHistory(Array.from({ length: 1000 }, (_, number) => user(`number ${number}`)), async (history) => {
    let turns = 0
    const count = (): void => {
      turns++
      pending = setImmediate(count)
    }
    let pending = setImmediate(count)
    assert.is(await history.events.count({ body: 'NUMBER 99' }), 11)
    assert.ok(turns >= 3)
    clearImmediate(pending)
  })
})

const finish = (message: string): EventDraft => ({ ...act('call-9'), action: { kind: 'FinishAction', message } })
const thoughts: EventDraft = {
  kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', reasoning_content: 'hm' },
}
const responses: readonly (readonly [what: string, drafts: readonly EventDraft[], response: string])[] = [
  ['nothing', [], ''],
  ['no answer of the agent', [user('hi'), act('call-1')], ''],
  ['a message of the agent', [say('one'), user('two')], 'one'],
  ['the newest of two', [say('one'), say('two')], 'two'],
  ['a finish message', [say('one'), finish('done')], 'done'],
  ['a message after a finish', [finish('done'), say('more')], 'more'],
  ['thoughts after an answer', [say('one'), thoughts], 'one'],
  ['an action after an answer', [say('one'), act('call-1')], 'one'],
]
for (const [what, drafts, response] of responses) {
  test(`the final response with ${what} is "${response}"`, async () => {
    await withHistory(drafts, async ({ events }) => {
      assert.is(await events.finalResponse(), response)
    })
  })
}

test('the final response passes over an answer that is damaged', async () => {
  await withHistory([say('one'), say('two')], async ({ log, events }) => {
    const read = log.read.bind(log)
    log.read = (number) => (number === 1 ? Promise.resolve(undefined) : read(number))
    assert.is(await events.finalResponse(), 'one')
  })
})

test('reads ids and texts of what is no event of ours without failing', async () => {
  assert.is(idOf(Buffer.from('{"kind":"PauseEvent"}')), '')
  await withHistory([say('x')], async ({ log, events }) => {
    for (const line of [
      '[]', '{}', '{"llm_message":{"content":"text"}}', '{"llm_message":{"content":[5,{"text":6}]}}',
    ]) {
      log.read = () => Buffer.from(line)
      log.readRange = async () => ({ events: [{ number: 0, json: Buffer.from(line) }], next: 1 })
      assert.is(await events.finalResponse(), '')
      assert.is(await events.count({ body: 'x' }), 0)
    }
  })
  await withHistory([act('x')], async ({ log, events }) => {
    for (const line of ['[]', '{"action":null}', '{"action":{"kind":"FinishAction","message":5}}']) {
      log.read = () => Buffer.from(line)
      assert.is(await events.finalResponse(), '')
    }
  })
})

test.run()
