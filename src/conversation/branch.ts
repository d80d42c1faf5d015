/**
 * The active branch of a history, read part by part for an agent that works from it.
 *
 * An event continues the one before it in the log, unless the head was moved in between (`navigate`, a fork). A part
 * costs what is new, however long the history is; only after a move everything is read again.
 */
import type { JsonObject } from '../base/json.ts'
import type { Event } from '../schema/generated/events.ts'
import { start, type Position } from '../storage/chain.ts'
import type { ConversationLog } from '../storage/log.ts'
import type { History, HistoryPart } from './agent.ts'
import { isPrivateRecord } from './state.ts'
import { storedEvent } from './stored-event.ts'

/** @param settled resolves when everything recorded so far is in the log */
export function readBranch(log: ConversationLog, settled: () => Promise<void>): History {
  let at: Position | undefined
  return {
    async next() {
      await settled()
      const isFresh = at === undefined
      const lines = await readLines(log, at ?? start)
      const mustBeginAnew = !isFresh && lines.hasMoved
      const all = mustBeginAnew ? await readLines(log, start) : lines
      at = all.end
      return partOf(all, isFresh || mustBeginAnew)
    },
  }
}

/** An event and the one that it continues. */
interface Link {
  readonly event: Event
  readonly previous: Link | undefined
}

interface Lines {
  readonly end: Position
  readonly hasMoved: boolean
  readonly last: Link | undefined
  readonly responses: ReadonlyMap<string, JsonObject>
}

async function readLines(log: ConversationLog, from: Position): Promise<Lines> {
  const known = new Map<string, Link>()
  const responses = new Map<string, JsonObject>()
  let last: Link | undefined
  let hasMoved = false
  let end = from
  const moveTo = (id: string | null): void => {
    hasMoved = true
    last = id === null ? undefined : known.get(id)
  }
  for await (const line of log.lines(from)) {
    end = line.position
    // Not `parseJson`: what was let in at the limit of nesting stands deeper in its line.
    const value: unknown = JSON.parse(line.json.toString())
    const event = line.event === undefined ? undefined : storedEvent(value)
    if (event !== undefined) {
      last = { event, previous: last }
      known.set(event.id, last)
    } else if (isPrivateRecord(value)) {
      if (value[0] === 'head') moveTo(value[1])
      if (value[0] === 'forked') moveTo(value[1].leaf_event_id)
      if (value[0] === 'response') responses.set(value[1].id, value[1].state)
    }
  }
  return { end, hasMoved, last, responses }
}

function partOf({ last, responses }: Lines, isFresh: boolean): HistoryPart {
  const events: Event[] = []
  for (let link = last; link !== undefined; link = link.previous) events.push(link.event)
  return { isFresh, events: events.reverse(), responses }
}
