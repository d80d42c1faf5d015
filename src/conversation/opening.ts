/**
 * Opens the conversation in a folder: opens its log, computes its state, and ends a run that a killed server left
 * (decisions 14).
 *
 * With a usable cache of the state, only the log lines after the cached state are read.
 */
import { withFields, type Log } from '../base/log.ts'
import type { MaskingStream } from '../base/masking.ts'
import { createStamper, type Clock, type NextStamp, type RandomBytes } from '../base/stamp.ts'
import type { Limiter } from '../base/limiter.ts'
import { eventKinds } from '../schema/generated/events.ts'
import { nodeFiles, type Files } from '../storage/files.ts'
import { sweepConversation } from '../storage/layout.ts'
import type { LineCache } from '../storage/line-cache.ts'
import { openLog, type ConversationLog } from '../storage/log.ts'
import type { Reserve } from '../storage/reserve.ts'
import { writeState } from '../storage/state-file.ts'
import { readCachedState } from './log/state-cache.ts'
import { AgentRecords } from './run/agent-records.ts'
import { AgentSeat } from './run/agent-seat.ts'
import type { AgentSecrets } from './agent/secrets.ts'
import type { AgentKind, TitleByProfile } from './agent/agent.ts'
import { Approvals } from './run/approvals.ts'
import { Asides } from './extra/asides.ts'
import { Conversation } from './conversation.ts'
import { EventReader } from './log/event-reader.ts'
import { Feed } from './log/feed.ts'
import { Frames } from './log/frames.ts'
import { Gate } from './run/gate.ts'
import { endOrphanedGoal, GoalLoop } from './extra/goal.ts'
import { createHost } from './run/host.ts'
import { Inbox } from './run/inbox.ts'
import { Journal } from './log/journal.ts'
import { endOrphanedRun } from './log/orphaned-run.ts'
import { foldLog } from './log/log-state.ts'
import { Repair } from './log/repair.ts'
import { Requests } from './log/once.ts'
import { Runner } from './run/runner.ts'
import type { ConversationState } from './log/state.ts'
import { Switches } from './run/switches.ts'
import type { Admission, Beginning } from './run/admission.ts'
import { Titles } from './extra/titles.ts'
import { TurnRunner } from './run/turn-runner.ts'
import type { Work } from './log/work.ts'
import type { JsonObject } from '../base/json.ts'

/** Objects and limits that all conversations of a server share. */
export interface ConversationDeps {
  readonly clock: Clock
  readonly random: RandomBytes
  readonly diagnostics: Log
  readonly cache: LineCache
  /** The file operations of the log. Default: the real disk. */
  readonly files?: Files
  readonly reserve: Reserve
  readonly readerLimit: number
  /** Limits concurrent log reads of all conversations' readers. Default: a limiter for each conversation (feed.ts). */
  readonly readLimiter?: Limiter
  /** Counts events, changes of status, cost and tokens of all conversations. */
  readonly work?: Work
  readonly backlogLimitBytes: number
  readonly eventLimitBytes: number
  readonly confirmationDeadlineMs: number
  readonly stopLimitMs: number
  readonly closeLimitMs: number
  readonly admission: Admission
  /** Returns the kind of agent that stored settings name. For the built-in agent, loads its code (`parts/builtin`). */
  readonly agentKind: (settings: JsonObject) => Promise<AgentKind>
  readonly titleByProfile: TitleByProfile
  readonly secrets: AgentSecrets
  readonly mask: (text: string) => string
  readonly createMaskingStream: () => MaskingStream
  /** Called when a conversation was closed, or when `ConversationService.create` failed. */
  readonly onClosed: (conversationId: string) => void
}

const killed = {
  code: 'ServerRestarted',
  detail:
    'a restart occurred while the conversation was running, perhaps after a fatal memory error; run it again to go on',
}

export interface OpenOptions {
  readonly directory: string
  readonly deps: ConversationDeps
  /** Called with the state each time that lines have become durable. */
  readonly onChange: (state: Readonly<ConversationState>) => void
}

/**
 * Opens the conversation in a folder.
 * @throws AppError `not_found` when the folder holds no conversation; the errors of `foldLog`, `openLog` and
 * `agentKind`
 */
export async function openConversation(options: OpenOptions): Promise<Conversation> {
  const { directory, deps } = options
  await sweepConversation(directory)
  const log = await openConversationLog(directory, deps)
  try {
    const state = await foldLog(log, { from: await readCachedState(directory, log) })
    const diagnostics = withFields(deps.diagnostics, { conversation_id: state.id })
    const feed = new Feed(log, deps.readerLimit, deps.readLimiter, diagnostics)
    // Events and frames share one stamper, so that their times are in order.
    const nextStamp = createStamper(deps.clock, deps.random, state.last_micros)
    const journal = new Journal({
      log,
      feed,
      state,
      nextStamp,
      backlogLimitBytes: deps.backlogLimitBytes,
      work: deps.work,
      onChange: () => options.onChange(journal.state),
    })
    const kind = await deps.agentKind(state.agent)
    endOrphanedRun(journal, kind, killed)
    endOrphanedGoal(journal)
    // A failing log does not prevent the opening. `Repair` records the end of the run when the log accepts lines again.
    await journal.durable().catch(ignore)
    return compose({ directory, deps, log, feed, journal, nextStamp, diagnostics, kind })
  } catch (thrown) {
    await log.close()
    throw thrown
  }
}

export function openConversationLog(directory: string, deps: ConversationDeps): Promise<ConversationLog> {
  return openLog({
    directory,
    kinds: eventKinds,
    cache: deps.cache,
    lineLimitBytes: deps.eventLimitBytes,
    files: deps.files ?? nodeFiles,
    onDamage: (damage) => {
      const about = { directory, damage: JSON.stringify(damage) }
      deps.diagnostics.error('A damaged part of a log was set aside', about)
    },
  })
}

interface Opened {
  readonly directory: string
  readonly deps: ConversationDeps
  readonly log: ConversationLog
  readonly feed: Feed
  readonly journal: Journal
  readonly nextStamp: NextStamp
  readonly diagnostics: Log
  readonly kind: AgentKind
}

/** Creates and connects the objects of a conversation. */
function compose({ directory, deps, log, feed, journal, nextStamp, diagnostics, kind }: Opened): Conversation {
  const { clock, reserve, mask, createMaskingStream, secrets, titleByProfile, eventLimitBytes } = deps
  const { confirmationDeadlineMs, stopLimitMs, closeLimitMs } = deps
  const { state } = journal
  const saveState = (): Promise<void> => writeState(directory, { line: log.head, state })

  const events = new EventReader(log)
  const frames = new Frames({ state, directory, nextStamp })
  const requests = new Requests({ events, known: () => state.requests })

  const records = new AgentRecords(journal, deps.work)
  const repair = new Repair({ kind, journal, log, reserve, diagnostics, restore: () => records.restore() })
  const beginRun = async (): Promise<void> => {
    gate.assertOpen()
    return runner.startOwn()
  }
  const host = { journal, events, records, secrets, directory, mask, createMaskingStream, beginRun }
  const seat = new AgentSeat({ kind, createHost: () => createHost(host), diagnostics, closeLimitMs })
  const turns = new TurnRunner({
    journal, seat, records, frames, createMaskingStream, diagnostics, clock, confirmationDeadlineMs, stopLimitMs,
  })
  journal.follow(turns)
  const runner = new Runner({ journal, events, seat, turns, records, frames, repair, saveState, diagnostics, clock })

  const gate = new Gate({ journal, repair, runner })
  const beginning: Beginning = {
    assertSpace: () =>
      records.allowance === undefined ? deps.admission.rules?.assertSpace(state.made_by, state.id) : undefined,
    run: (work) => {
      const goesOn = runner.isRunning || records.allowance !== undefined
      return goesOn ? work() : deps.admission.start(state.id, state.made_by, work)
    },
  }
  const switches = new Switches({ gate, seat, records, beginning })
  const asides = new Asides({ journal, gate, seat, runner, records, titleByProfile })
  const titles = new Titles({ journal, clock, diagnostics, asides })
  const inbox = new Inbox({ journal, events, gate, seat, runner, turns, titles, eventLimitBytes })
  const approvals = new Approvals({ journal, gate, seat, runner, questions: turns.questions })
  const goal = new GoalLoop({ journal, diagnostics, gate, runner, asides, inbox, beginning })

  const onClosed = (): void => deps.onClosed(state.id)
  return new Conversation({
    log, journal, feed, events, frames, gate, requests, seat, records, runner, inbox, approvals, switches, asides,
    titles, goal, beginning, directory, clock, diagnostics, eventLimitBytes, saveState, onClosed,
  })
}

function ignore(): void {}
