/**
 * Kills a server under load with SIGKILL, again and again on one data folder, and checks the data after each start: for
 * the short test and the long test.
 *
 * The moment is by chance: behind a number of answers, a little later than the last, or while the server is starting.
 * The expectation is in `kill-load`: everything acknowledged once and in order, nothing half-made.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { below, seeded } from '../storage/samples.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { runToEnd, startProgram, startThenKill, type Program } from '../support/server.ts'
import { newLedger, workUntilKilled, type Known, type Ledger } from './kill-load.ts'
import { messagesOf, talkTo, userMessage } from './talk.ts'

export interface KillReport {
  readonly kills: number
  readonly duringStart: number
  readonly acknowledged: number
  /** From the start of the process to the answer to a message, for each restart. */
  readonly answeredAfterMs: readonly number[]
}

/** In a folder of the caller's. */
export async function killUnderLoad(folder: string, kills: number, seed: number): Promise<KillReport> {
  const random = seeded(seed)
  const ledger = newLedger()
  const answeredAfterMs: number[] = []
  let duringStart = 0
  for (let kill = 0; kill < kills; kill++) {
    const label = `seed ${seed} kill ${kill}`
    if (below(random, 5) === 0) {
      duringStart++
      await startThenKill(folder, below(random, 500))
      continue
    }
    const begun = performance.now()
    await inProgram(folder, async (program) => {
      await check(program, ledger, label, () => answeredAfterMs.push(performance.now() - begun))
      await loadAndKill(program, ledger, random)
    })
  }
  await inProgram(folder, async (last) => {
    await check(last, ledger, `seed ${seed} in the end`, () => undefined)
    assert.is(await last.stop('SIGTERM'), 0)
    const { code, stdout } = await runToEnd(['verify', '--data-dir', last.dataDir], folder)
    assert.is(code, 0, stdout)
  })
  return { kills, duringStart, acknowledged: ledger.acknowledged, answeredAfterMs }
}

/** Runs `body` with a program, which is ended in any case. */
async function inProgram(folder: string, body: (program: Program) => Promise<void>): Promise<void> {
  const program = await startProgram(folder)
  try {
    await body(program)
  } finally {
    await program.stop('SIGKILL')
  }
}

async function loadAndKill(program: Program, ledger: Ledger, random: () => number): Promise<void> {
  const killAt = ledger.acknowledged + 1 + below(random, 60)
  const laterMs = below(random, 20)
  const onAnswer = (): void => {
    if (ledger.acknowledged === killAt) setTimeout(() => program.child.kill('SIGKILL'), laterMs)
  }
  await workUntilKilled({ server: program, ledger, random, onAnswer })
  await program.stop('SIGKILL')
}

async function check(program: Program, ledger: Ledger, label: string, onAnswer: () => void): Promise<void> {
  const first = ledger.conversations.find(({ exists }) => !exists.allowed.includes(false))
  if (first !== undefined) {
    const text = `first after ${label}`
    const { status } = await program.rest.post(`/api/conversations/${first.id}/events`, userMessage(text, true))
    assert.is(status, 200, label)
    onAnswer()
    first.messages.found([...await checkMessages(program, first, label, [text]), text])
  }
  await checkExistence(program, ledger, label)
  for (const known of ledger.conversations) await checkConversation(program, known, label)
  await checkSettings(program, ledger, label)
  await until(() => readdirSync(join(program.dataDir, 'temporary')).length === 0)
  if (first !== undefined) await talkTo(program, first.id).reaches('finished')
}

/** Every conversation is there or not, as it was acknowledged, and no other one is. */
async function checkExistence(program: Program, ledger: Ledger, label: string): Promise<void> {
  const ids = new Set(await listed(program))
  for (const known of ledger.conversations) {
    assert.ok(
      known.exists.allowed.includes(ids.has(known.id)),
      `${label}: ${known.id} is ${ids.has(known.id) ? '' : 'not '}there`,
    )
    known.exists.found(ids.has(known.id))
    if (!known.exists.value) assert.is((await program.rest.get(`/api/conversations/${known.id}`)).status, 404, label)
  }
  const left = ledger.conversations.filter(({ exists }) => exists.value)
  assert.equal([...ids].sort(), left.map(({ id }) => id).sort(), label)
  ledger.conversations.splice(0, Infinity, ...left)
}

async function listed(program: Program): Promise<string[]> {
  const { json } = await program.rest.get('/api/conversations/search?limit=100')
  assert.is(member(json, 'next_page_id'), null)
  return listAt(json, 'items').map((item) => textAt(item, 'id'))
}

async function checkConversation(program: Program, known: Known, label: string): Promise<void> {
  known.messages.found(await checkMessages(program, known, label))
  const { status, json } = await program.rest.get(`/api/conversations/${known.id}`)
  assert.is(status, 200, label)
  const shown = member(json, 'title')
  // Without one of a client it has one of its own, or will have.
  const title = typeof shown === 'string' && shown.startsWith('Title ') ? shown : undefined
  assert.ok(known.title.allowed.includes(title), `${label}: title ${String(shown)}`)
  known.title.found(title)
}

/** Checks the stored messages, without the messages at the end that are `added`. */
async function checkMessages(
  program: Program, known: Known, label: string, added: readonly string[] = [],
): Promise<string[]> {
  const events = await talkTo(program, known.id).events()
  assert.equal(
    events.slice(0, known.seen.length), known.seen, `${label}: what was read of ${known.id} is not there any more`,
  )
  for (const name of ['id', 'timestamp']) {
    const values = events.map((event) => textAt(event, name))
    assert.equal(values, [...new Set(values)].sort(), label)
  }
  const stored = messagesOf(events, 'user')
  const before = stored.slice(0, stored.length - added.length)
  assert.equal(stored.slice(before.length), added, label)
  const isAllowed = known.messages.allowed.some((allowed) => allowed.join() === before.join())
  assert.ok(
    isAllowed,
    `${label}: ${before.join()} in ${known.id}, expected one of ` +
      `${known.messages.allowed.map((allowed) => allowed.join()).join(' | ')}`,
  )
  return before
}

async function checkSettings(program: Program, ledger: Ledger, label: string): Promise<void> {
  const { json } = await program.rest.get('/api/settings')
  const number = member(json, 'conversation_settings', 'max_iterations')
  const { maxIterations, secrets } = ledger
  assert.ok(
    maxIterations.allowed.includes(number) || maxIterations.value === undefined,
    `${label}: max_iterations ${String(number)}`,
  )
  maxIterations.found(number)
  const stored = listAt((await program.rest.get('/api/settings/secrets')).json, 'secrets').filter(isObject).map(
    ({ name }) => name,
  )
  for (const [name, secret] of secrets) {
    const { status, text } = await program.rest.get(`/api/settings/secrets/${name}`)
    const value = status === 200 ? text : undefined
    assert.ok(secret.allowed.includes(value), `${label}: ${name} is ${value}`)
    assert.is(stored.includes(name), value !== undefined, label)
    secret.found(value)
  }
}
