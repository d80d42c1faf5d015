/**
 * Reads the active branch of a history in parts, for an agent that works from the history.
 *
 * A part has the events since the previous part, or the whole branch: at first, and after a move of the branch's head.
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../base/json.ts'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import type { Event } from '../../schema/generated/events.ts'
import { start, type Position } from '../../storage/chain.ts'
import type { History, HistoryPart } from '../agent/host.ts'
import { isPrivateRecord } from './records.ts'
import type { EventReader } from './event-reader.ts'
import { storedEvent } from './stored-event.ts'

/** Returns an object that reads the active branch. `settled` resolves when all recorded events are in the log. */
export function readBranch(events: EventReader, settled: () => Promise<void>): History {
  let at: Position | undefined
  let unheard: readonly string[] = []
  return {
    async next() {
      await settled()
      const isFresh = at === undefined
      const lines = await readLines(events, at ?? start, unheard)
      const mustBeginAnew = !isFresh && lines.hasMoved
      const all = mustBeginAnew ? await readLines(events, start, []) : lines
      at = all.end
      unheard = all.unheard
      return partOf(all, isFresh || mustBeginAnew)
    },
  }
}

/** An event with the event before it on its branch; `previous` is undefined for the first event of the part. */
interface Link {
  readonly event: Event
  /** The number of changes of the agent's settings that this call of `readLines` read before `event`. */
  readonly switches: number
  readonly previous: Link | undefined
}

interface Lines {
  readonly end: Position
  readonly hasMoved: boolean
  readonly last: Link | undefined
  readonly responses: ReadonlyMap<string, JsonObject>
  readonly calls: ReadonlyMap<string, string>
  readonly late: ReadonlyMap<string, string>
  /** Ids of the user messages that are not recorded as `served`, oldest first. */
  readonly unheard: readonly string[]
  readonly switches: number
}

async function readLines(events: EventReader, from: Position, unheardBefore: readonly string[]): Promise<Lines> {
  const known = new Map<string, Link>()
  const responses = new Map<string, JsonObject>()
  const calls = new Map<string, string>()
  const late = new Map<string, string>()
  let unheard = [...unheardBefore]
  let last: Link | undefined
  let hasMoved = false
  let end = from
  let agent: JsonObject | undefined
  let switches = 0
  const moveTo = (id: string | null): void => {
    hasMoved = true
    last = id === null ? undefined : known.get(id)
  }
  for await (const line of events.lines(from)) {
    end = line.position
    const value = await parseOwnJsonBytes(line.json)
    const event = line.event === undefined ? undefined : storedEvent(value)
    if (event !== undefined) {
      last = { event, switches, previous: last }
      known.set(event.id, last)
      if (event.kind === 'MessageEvent' && event.source === 'user') unheard.push(event.id)
      if (isAnswer(event)) for (const id of unheard) if (!late.has(id)) late.set(id, event.id)
    } else if (isPrivateRecord(value)) {
      if (value[0] === 'head') moveTo(value[1])
      if (value[0] === 'forked') moveTo(value[1].leaf_event_id)
      if (value[0] === 'served') unheard = unheard.slice(unheard.indexOf(value[1]) + 1)
      if (value[0] === 'response') responses.set(value[1].id, value[1].state)
      if (value[0] === 'call') calls.set(value[1].id, value[1].sealed)
      if (value[0] === 'created') agent = value[1].agent
      if (value[0] === 'agent') {
        // The log of a fork repeats the agent settings of its source. Equal settings are no change.
        if (!isDeepStrictEqual(value[1], agent)) switches++
        agent = value[1]
      }
    }
  }
  return { end, hasMoved, last, responses, calls, late, unheard, switches }
}

function isAnswer({ kind, source }: Event): boolean {
  return source === 'agent' && (kind === 'MessageEvent' || kind === 'ActionEvent')
}

function partOf({ last, responses, calls, late, switches }: Lines, isFresh: boolean): HistoryPart {
  const links: Link[] = []
  for (let link = last; link !== undefined; link = link.previous) links.push(link)
  const switchedAt = switches === 0 ? undefined : links.filter((link) => link.switches < switches).length
  return { isFresh, events: links.reverse().map(({ event }) => event), responses, calls, late, switchedAt }
}
