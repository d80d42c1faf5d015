import { appendFile, copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { memberAt } from '../../src/base/fields.ts'
import { isObject, type JsonObject } from '../../src/base/json.ts'
import { AppError, messageOf } from '../../src/base/errors.ts'
import type { ConversationState } from '../../src/conversation/log/state.ts'
import { peekState } from '../../src/conversation/log/state-cache.ts'
import { openLog } from '../../src/storage/log.ts'
import type { ExecutionStatus } from '../../src/schema/generated/conversations.ts'
import { readSoundState, writeState } from '../../src/storage/state-file.ts'
import { eventKinds } from '../../src/schema/generated/events.ts'
import {
  act, answers, created, ended, eventsOf, failureOf, makeConversation, observe, openTestConversation, question, say,
  story, until, userText, withWorld, worksOn, finished, type Script, type World,
} from '../support/conversation.ts'

const test = suite('conversation/opening')

/** A conversation with a history of many kinds, closed in good order. */
async function makeHistory(world: World): Promise<{ directory: string; state: string }> {
  const directory = await makeConversation(world, { autotitle: true, secrets: { A: { kind: 'StaticSecret' } } })
  const conversation = await openTestConversation(world, directory)
  world.scripts.push((turn, host) => {
    const { id } = turn.record(act('call-1'))
    turn.record(observe('call-1', id))
    turn.record(say('hello'))
    turn.usage({ usageId: 'acp-managed', model: 'm', cost: 1 })
    host.keep('session', { id: 's' })
    host.state({ acp_session_id: 's' })
    return finished
  })
  await conversation.send(userText('hi'), true)
  await ended(conversation)
  await conversation.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
  await conversation.patch({ title: 'T', tags: { a: '1' } })
  await conversation.addSecrets({ B: { kind: 'StaticSecret' } })
  await conversation.send(userText('queued'), false)
  const state = JSON.stringify(conversation.state)
  await conversation.close()
  return { directory, state }
}

/** Changes of the cache before the folder is opened again. */
const caches: readonly (readonly [what: string, change: (directory: string) => Promise<unknown>])[] = [
  ['as it was written', async () => undefined],
  ['missing', (directory) => rm(join(directory, 'state.json'))],
  ['no JSON', (directory) => writeFile(join(directory, 'state.json'), '{')],
  ['changed by hand', (directory) => edit(directory, (text) => text.replace('"title":"T"', '"title":"X"'))],
  ['from an older version, without a field', (directory) => rewrite(directory, ({ kept: _, ...state }) => state)],
  ['of another log', async (directory) => {
    const cached = await readSoundState(directory)
    if (cached !== undefined) await writeState(directory, { ...cached, line: { ...cached.line, hash: 'f'.repeat(32) } })
  }],
]
for (const [what, change] of caches) {
  test(`folds to the same state with a cache that is ${what}`, async () => {
    await withWorld(async (world) => {
      const { directory, state } = await makeHistory(world)
      await change(directory)
      const conversation = await openTestConversation(world, directory)
      assert.is(JSON.stringify(conversation.state), state)
      await conversation.close()
    })
  })
}

test('removes the temporary files of a crash from the folder, and no other file', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    await mkdir(join(directory, 'observations', 'folder'), { recursive: true })
    const [left, other] = ['.state.json.0123456789ab.tmp', '.state.json.tmp']
    for (const folder of ['', 'observations', 'observations/folder']) {
      for (const name of [left, other]) await writeFile(join(directory, folder, name), '{')
    }
    await (await openTestConversation(world, directory)).close()
    const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.tmp'))
    assert.equal(names.sort(), [
      other, `observations/${other}`, `observations/folder/${left}`, `observations/folder/${other}`,
    ].sort())
  })
})

test('folds the very first event too', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const first = await openTestConversation(world, directory)
    await first.send(userText('hi'), false)
    const state = JSON.stringify(first.state)
    await first.close()
    await rm(join(directory, 'state.json'))
    const second = await openTestConversation(world, directory)
    assert.is(JSON.stringify(second.state), state)
    assert.is(second.state.unserved.length, 1)
    await second.close()
  })
})

test('folds on from a cache that is behind the log', async () => {
  await withWorld(async (world) => {
    const { directory } = await makeHistory(world)
    const old = await readFile(join(directory, 'state.json'))
    const first = await openTestConversation(world, directory)
    await first.send(userText('newest'), false)
    const state = JSON.stringify(first.state)
    await first.close()
    await writeFile(join(directory, 'state.json'), old)
    assert.is(await peekState(directory), undefined)
    const second = await openTestConversation(world, directory)
    assert.is(JSON.stringify(second.state), state)
    await second.close()
    assert.is(JSON.stringify(await peekState(directory)), state)
  })
})

test('uses the cache it trusts, so that opening folds no history', async () => {
  await withWorld(async (world) => {
    const { directory } = await makeHistory(world)
    await rewrite(directory, (state) => ({ ...state, title: 'of the cache' }))
    const conversation = await openTestConversation(world, directory)
    assert.is(conversation.state.title, 'of the cache')
    await conversation.close()
  })
})

async function edit(directory: string, change: (text: string) => string): Promise<void> {
  const path = join(directory, 'state.json')
  await writeFile(path, change(await readFile(path, 'utf8')))
}

/** Replaces the state and its check. */
async function rewrite(directory: string, change: (state: Record<string, unknown>) => unknown): Promise<void> {
  const cached = await readSoundState(directory)
  if (cached === undefined || !isObject(cached.state)) throw new Error('there is no cache')
  await writeState(directory, { line: cached.line, state: change(cached.state) })
}

/**
 * Makes the folder that a server leaves when it is killed in the middle of a turn: a copy of the log as it was in this
 * status.
 */
async function killIn(
  world: World,
  status: ExecutionStatus,
  script: Script,
  agent: JsonObject = created().agent,
): Promise<string> {
  const directory = await makeConversation(world, { agent })
  const conversation = await openTestConversation(world, directory)
  world.scripts.push(script)
  await conversation.send(userText('hi'), true)
  await until(() => conversation.state.execution_status === status && conversation.state.open_actions.length > 0)
  const copy = `${directory}.killed`
  await mkdir(copy)
  await copyFile(join(directory, 'events.jsonl'), join(copy, 'events.jsonl'))
  await conversation.close()
  return copy
}

async function reopened(world: World, directory: string): Promise<string[]> {
  const conversation = await openTestConversation(world, directory)
  const words = await story(conversation)
  world.scripts.push(answers('again'))
  await conversation.run()
  await ended(conversation)
  assert.is(conversation.state.execution_status, 'finished')
  await conversation.close()
  return words
}

test('a run whose server was killed becomes an error with an answer to every open action, and runs again', async () => {
  await withWorld(async (world) => {
    const directory = await killIn(world, 'running', (turn) => {
      const { id } = turn.record(act('call-1'))
      turn.record(act('call-2'))
      turn.record(act('call-3'))
      turn.record(observe('call-1', id))
      return worksOn(turn)
    })
    assert.equal((await reopened(world, directory)).slice(6), [
      'error call-2', 'error call-3', 'failure ServerRestarted', 'status error',
    ])
  })
})

test('usage that was counted before a kill is in the state and, once, in the history', async () => {
  await withWorld(async (world) => {
    const directory = await killIn(world, 'running', (turn) => {
      turn.usage({ usageId: 'a', model: 'm', cost: 1, promptTokens: 5 })
      turn.record(act('call-1'))
      turn.usage({ usageId: 'a', model: 'm', cost: 2, promptTokens: 7 })
      turn.record(act('call-2'))
      return worksOn(turn)
    })
    const conversation = await openTestConversation(world, directory)
    const { stats, agent_state: { usage } } = conversation.state
    assert.equal((await story(conversation)).slice(4), [
      'update stats', 'error call-1', 'error call-2', 'failure ServerRestarted', 'status error',
    ])
    const [recorded] = (await eventsOf(conversation.events)).filter((event) => memberAt(event, 'key') === 'stats')
    assert.equal(memberAt(recorded, 'value'), stats)
    assert.is(memberAt(stats, 'usage_to_metrics', 'a', 'accumulated_cost'), 3)
    assert.is(memberAt(stats, 'usage_to_metrics', 'a', 'accumulated_token_usage', 'prompt_tokens'), 12)
    assert.is(memberAt(usage, 'models', 'm', 'cost', 'value'), 3)
    await conversation.close()
    const again = await openTestConversation(world, directory)
    assert.equal(again.state.stats, stats)
    assert.is((await story(again)).filter((words) => words === 'update stats').length, 1)
    await again.close()
  })
})

test('a message on which an agent had begun to act is not served again after a kill', async () => {
  await withWorld(async (world) => {
    const directory = await killIn(world, 'running', (turn) => {
      turn.record(act('call-1'))
      return worksOn(turn)
    })
    await reopened(world, directory)
    assert.equal(world.agents.map(({ served }) => served), [[['hi']], [[]]])
  })
})

test('an open question of an external agent is gone with its server', async () => {
  await withWorld(async (world) => {
    const directory = await killIn(world, 'waiting_for_confirmation', async (turn) => {
      turn.record(act('call-1'))
      await turn.ask(question)
      return finished
    })
    assert.equal((await reopened(world, directory)).slice(3), [
      'pending 1', 'status waiting_for_confirmation', 'error call-1', 'pending 0', 'failure ServerRestarted',
      'status error',
    ])
  })
})

test('the words of the failure say that there was a restart and what may have caused it', async () => {
  await withWorld(async (world) => {
    const directory = await killIn(world, 'running', (turn) => {
      turn.record(act('call-1'))
      return worksOn(turn)
    })
    const conversation = await openTestConversation(world, directory)
    const text = (await conversation.events.readRange(0, 100, 1_000_000)).events
      .map(({ json }) => json.toString())
      .join('\n')
    for (const words of ['restart occurred', 'fatal memory error']) assert.is(text.split(words).length, 3, words)
    await conversation.close()
  })
})

test('a built-in agent that waits for the user survives', async () => {
  await withWorld(async (world) => {
    const directory = await killIn(world, 'waiting_for_confirmation', (turn) => {
      turn.record(act('call-1'))
      return { outcome: 'waiting', served: true }
    }, { kind: 'Agent' })
    const conversation = await openTestConversation(world, directory)
    assert.is(conversation.state.execution_status, 'waiting_for_confirmation')
    assert.is(conversation.state.open_actions.length, 1)
    await conversation.close()
  })
})

for (const how of ['idle', 'paused', 'finished', 'error'] as const) {
  test(`a conversation that was ${how} is left as it is`, async () => {
    await withWorld(async (world) => {
      const directory = await makeConversation(world)
      const first = await openTestConversation(world, directory)
      if (how === 'paused') await first.pause()
      if (how === 'error') world.scripts.push(() => ({ outcome: 'failed', served: true, code: 'c', detail: 'd' }))
      if (how === 'finished' || how === 'error') await first.run()
      await ended(first)
      const before = await story(first)
      await first.close()
      const second = await openTestConversation(world, directory)
      assert.is(second.state.execution_status, how)
      assert.equal(await story(second), before)
      await second.close()
    })
  })
}

test('a folder without a conversation is told apart from one that cannot be read', async () => {
  await withWorld(async (world) => {
    assert.is(await failureOf(openTestConversation(world, join(world.folder, 'nowhere'))), 'not_found')
    const directory = await makeConversation(world)
    await truncate(join(directory, 'events.jsonl'))
    assert.is(await failureOf(openTestConversation(world, directory)), 'not_found')
    world.disk.fail('EIO')
    assert.is(await failureOf(openTestConversation(world, directory)), 'storage_failed')
  })
})

test('a log that does not begin with a creation is none of ours', async () => {
  await withWorld(async (world) => {
    const log = await openLog({
      directory: world.folder, kinds: eventKinds, cache: world.deps.cache, onDamage: () => undefined,
    })
    log.append('["head",null]')
    await log.close()
    const thrown = await openTestConversation(world, world.folder).catch(messageOf)
    assert.is(thrown, 'The log does not begin with its creation')
  })
})

test('a record that this version does not know is refused with its place, and so is the next opening', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const options = { directory, kinds: eventKinds, cache: world.deps.cache, onDamage: () => undefined }
    const log = await openLog(options)
    log.append('["from the future",1]')
    await log.durable()
    const { offset } = log.head
    await log.close()
    for (let opening = 0; opening < 2; opening++) {
      const thrown = await openTestConversation(world, directory).catch((error: unknown) => error)
      assert.is(thrown instanceof AppError && thrown.code, 'format_unsupported')
      assert.match(messageOf(thrown), `the record "from the future" that ends at byte ${offset} is unknown`)
    }
  })
})

test('an event that no version of ours has written is passed over, and damage is reported', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const log = await openLog({ directory, kinds: eventKinds, cache: world.deps.cache, onDamage: () => undefined })
    log.append(
      '{"kind":"PauseEvent","id":"00000000-0000-7000-8000-000000000000","timestamp":"x","source":"user","more":1}',
    )
    await log.close()
    await appendFile(join(directory, 'events.jsonl'), 'torn')
    const conversation = await openTestConversation(world, directory)
    assert.is(conversation.state.leaf_event_id, null)
    assert.match(world.reports.join(), 'A damaged part of a log was set aside')
    await conversation.send(userText('hi'), false)
    await conversation.close()
  })
})

test('what was let in at the limit of nesting opens again', async () => {
  await withWorld(async (world) => {
    const deep = (levels: number): JsonObject => (levels === 0 ? {} : { a: deep(levels - 1) })
    const directory = await makeConversation(world, { hook_config: deep(199) })
    const conversation = await openTestConversation(world, directory)
    await conversation.close()
    const again = await openTestConversation(world, directory)
    assert.equal(again.state.hook_config, deep(199))
    await again.close()
  })
})

test('every commit is told to the owner, with the state after it', async () => {
  await withWorld(async (world) => {
    const seen: string[] = []
    const note = (state: Readonly<ConversationState>): number => seen.push(`${state.unserved.length}`)
    const conversation = await openTestConversation(world, await makeConversation(world), note)
    await conversation.send(userText('one'), false)
    await conversation.send(userText('two'), false)
    assert.equal([...new Set(seen)], ['1', '2'])
    await conversation.close()
  })
})

test.run()
