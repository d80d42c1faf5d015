/**
 * The property: for any order and cutting of updates, the action that is on record before a question is answered
 * contains the command or the diff of that question (decisions, 3).
 *
 * Each seed is one agent with one to four calls under way, told and asked about as that agent does (asking-agents):
 * pieces of any length, which cut words and escapes; empty chunks, figures, plans, thoughts and texts in between;
 * updates that are lost or come late; pauses after which a call is recorded with less; questions at any moment, again
 * with other work, and under an id of their own.
 */
import * as assert from 'uvu/assert'
import type { AskedCall } from '../../../src/agents/acp/calls/turn-calls.ts'
import { memberAt, objectOf, textOf } from '../../../src/base/fields.ts'
import { askingAgents, type AskingAgent, type Work } from '../../fixtures/asking-agents.ts'
import type { TimedUpdate } from '../../fixtures/streamed-calls.ts'
import { createRandom, type Random } from '../../base/masking-random.ts'
import { suite } from '../../support/suite.ts'
import { json, watch, type Watched } from './watched-turn.ts'

const test = suite('acp any order')
const seeds = 150

for (const agent of askingAgents) {
  test(`${agent.name}: what is on record before an answer has the command or the diff of the question`, () => {
    let questions = 0
    for (let seed = 1; seed <= seeds; seed++) questions += new Session(agent, seed).play()
    assert.ok(questions > seeds, 'hardly anything was asked')
  })
}

/** One turn of an agent, made of a seed. */
class Session {
  readonly #agent: AskingAgent
  readonly #random: Random
  readonly #turn: Watched
  readonly #where: string
  /** The calls of which nothing was asked yet. */
  readonly #quiet: Work[]
  /** The calls that the agent has told whole. */
  readonly #told = new Set<Work>()
  #questions = 0
  #plans = 0

  constructor(agent: AskingAgent, seed: number) {
    this.#agent = agent
    this.#random = createRandom(seed)
    this.#where = `${agent.name}, seed ${seed}`
    this.#turn = watch({ titleIsCommand: agent.titleIsCommand === true })
    this.#quiet = Array.from({ length: 1 + this.#random.below(4) }, (_, index) => anyWork(`call${index}`, this.#random))
  }

  /** Gives how many questions were asked. */
  play(): number {
    const told = this.#quiet.flatMap((work) => this.#updatesOf(work))
    for (const { atMs, update, ends } of told.sort((a, b) => a.atMs - b.atMs)) {
      this.#turn.timers.advanceTo(atMs)
      this.#turn.events.update(update)
      if (ends !== undefined) this.#told.add(ends)
      this.#disturb()
      if (this.#random.below(8) === 0) this.#askAboutAny()
    }
    while (this.#quiet.length > 0) this.#askAboutAny(true)
    this.#turn.events.close('over')
    assertPaired(this.#turn, this.#where)
    assert.is(this.#turn.timers.waiting, 0)
    return this.#questions
  }

  #updatesOf(work: Work): readonly (TimedUpdate & { readonly ends: Work | undefined })[] {
    const random = this.#random
    const pace = { tokensPerSecond: 5 + random.below(400), pieceChars: 1 + random.below(40) }
    const updates = this.#agent.tells(work, pace)
    let late = random.below(3000)
    return updates.flatMap((told, index) => {
      const ends = index === updates.length - 1 ? work : undefined
      // Updates do not get lost where they alone tell the input of a call.
      if (random.below(10) === 0 && this.#agent.asksWithoutInput === undefined) return []
      late += random.below(30) === 0 ? 40_000 : random.below(4) === 0 ? random.below(4000) : 0
      return [{ update: told.update, atMs: told.atMs + late, ends }]
    })
  }

  /** Sends an update that may come between the pieces of a call. */
  #disturb(): void {
    const { events, text, thought } = this.#turn
    switch (this.#random.below(12)) {
      case 0: return text('')
      case 1: return void events.update({ sessionUpdate: 'usage_update', used: this.#random.below(1000) })
      case 2: return void events.update({
        sessionUpdate: 'plan', entries: [{ content: `step ${this.#plans++}`, status: 'pending', priority: 'low' }],
      })
      case 3: return thought('hm')
      case 4: return text('and so ')
      case 5: return void events.update({ sessionUpdate: 'available_commands_update', availableCommands: [] })
    }
  }

  #askAboutAny(isLast = false): void {
    const ready = this.#agent.asksWithoutInput === undefined || isLast
      ? this.#quiet
      : this.#quiet.filter((work) => this.#told.has(work))
    const work = ready[this.#random.below(Math.max(ready.length, 1))]
    if (work === undefined) return
    const isBare = this.#agent.name === 'openhands'
    // A question that names no call is about all that are open.
    const about = isBare ? this.#quiet.filter((one) => this.#told.has(one)) : [work]
    for (const one of about) this.#quiet.splice(this.#quiet.indexOf(one), 1)
    const asked = this.#turn.events.asks(this.#agent.asks(work), false)
    this.#check(asked, about)
    const isAllowed = this.#random.below(3) > 0
    for (const { id } of asked) {
      if (isAllowed) this.#turn.events.allowed(id)
      else this.#turn.events.rejects(id, 'no')
    }
    // It asks again: about other work under the same id.
    if (!isBare && this.#agent.asksWithoutInput === undefined && this.#random.below(5) === 0) {
      const changed = anyWork(work.id, this.#random)
      this.#check(this.#turn.events.asks(this.#agent.asks(changed), false), [changed])
    }
  }

  /** Each work stands in an action that a question names, or in a part of it. */
  #check(asked: readonly AskedCall[], about: readonly Work[]): void {
    this.#questions += asked.length
    for (const work of about) {
      const found = asked.some(({ id }) => actionsOf(this.#turn, id).some((action) => tells(action, work)))
      const seen = asked.map(({ id }) => json(actionsOf(this.#turn, id)))
      assert.ok(found, `${this.#where}: ${json(work)} is not in ${seen.join(' or ')}`)
    }
  }
}

/** Returns the entries of a call in the history. The parts of a call have its id with a suffix. */
function actionsOf(turn: Watched, id: string): readonly unknown[] {
  return turn.drafts.flatMap((draft) => {
    const called = textOf(memberAt(draft, 'tool_call_id')) ?? ''
    return draft.kind === 'ActionEvent' && called === id ? [draft.action] : []
  })
}

function tells(action: unknown, work: Work): boolean {
  if ('command' in work) return memberAt(action, 'command') === masked(work.command)
  const { path, old_str: before, new_str: after } = objectOf(action)
  return path === work.path && before === masked(work.before) && after === masked(work.after)
}

/** As `watch` masks. */
function masked(text: string): string {
  return text.replaceAll('hunter22', '***')
}

/** One action for each id, and one answer after it. */
function assertPaired(turn: Watched, where: string): void {
  const [open, seen] = [new Set<unknown>(), new Set<unknown>()]
  for (const { kind, tool_call_id: id } of turn.drafts.map(objectOf)) {
    if (id === undefined) continue
    if (kind !== 'ActionEvent') assert.ok(open.delete(id), `${where}: an answer without its action`)
    else assert.not.ok(seen.has(id), `${where}: two actions`)
    if (kind === 'ActionEvent') open.add(seen.add(id) && id)
  }
  assert.is(open.size, 0, where)
}

const pieces = ['rm', ' -rf ', '"a\\', '/home', '😀', '\\n', '\t', '{', ',', '\u2028', 'hunter22', '}']

function anyWork(id: string, random: Random): Work {
  const words = (count: number): string =>
    Array.from({ length: 1 + random.below(count) }, () => random.pick(pieces)).join('')
  if (random.below(2) === 0) return { id, command: `run ${words(60)}\n${words(5)}` }
  return { id, path: `/project/${random.below(3)}.txt`, before: `old ${words(10)}\n`, after: `new ${words(40)}\n` }
}

test.run()
