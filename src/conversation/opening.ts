/**
 * Opens the conversation in a folder: opens the log, folds the state, repairs the end of a killed run.
 *
 * The state comes from its cache as far as the cache agrees with the log, and the rest is folded from the log. So
 * opening costs the same however long the history is. A stored `running` becomes `error`, and so does a confirmation
 * whose agent process is gone. Each action without a result gets an AgentErrorEvent, and the conversation can be run
 * again at once (decisions 14).
 */
import { withFields, type Log } from '../base/log.ts'
import type { MaskingStream } from '../base/masking.ts'
import { createStamper, type Clock, type RandomBytes } from '../base/stamp.ts'
import type { Turns } from '../base/turns.ts'
import { eventKinds } from '../schema/generated/events.ts'
import { nodeFiles, type Files } from '../storage/files.ts'
import type { LineCache } from '../storage/line-cache.ts'
import { openLog, type ConversationLog } from '../storage/log.ts'
import type { Reserve } from '../storage/reserve.ts'
import { writeState } from '../storage/state-file.ts'
import { readCachedState } from './state-cache.ts'
import type { AgentSecrets } from './agent-secrets.ts'
import type { Agent, AgentHost } from './agent.ts'
import { Conversation } from './conversation.ts'
import type { TitleByProfile } from './agent-requests.ts'
import { Feed } from './feed.ts'
import { endOrphanedGoal } from './goal.ts'
import { Journal } from './journal.ts'
import { endOrphanedRun } from './orphaned-run.ts'
import { foldLog } from './log-state.ts'
import type { ConversationState } from './state.ts'
import type { JsonObject } from '../base/json.ts'

/** Objects and limits that all conversations of a server share. */
export interface ConversationDeps {
  readonly clock: Clock
  readonly random: RandomBytes
  readonly diagnostics: Log
  readonly cache: LineCache
  /** Default: the real disk. */
  readonly files?: Files
  readonly reserve: Reserve
  readonly readerLimit: number
  /** Limits concurrent log reads of all conversations' readers (see feed.ts). */
  readonly readingTurns?: Turns
  readonly backlogLimitBytes: number
  readonly eventLimitBytes: number
  readonly confirmationDeadlineMs: number
  readonly stopLimitMs: number
  /** Loads the parts that `createAgent` needs for this agent. */
  readonly prepareAgent?: (agent: JsonObject) => Promise<void>
  readonly createAgent: (agent: JsonObject, host: AgentHost) => Agent
  readonly titleByProfile: TitleByProfile
  readonly secrets: AgentSecrets
  readonly mask: (text: string) => string
  readonly createMaskingStream: () => MaskingStream
  /** Called when a conversation was closed, or when its creation failed. */
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
  /** Called after every commit. */
  readonly onChange: (state: Readonly<ConversationState>) => void
}

/**
 * Opens the conversation in a folder.
 * @throws AppError `not_found` when the folder holds no conversation.
 */
export async function openConversation(options: OpenOptions): Promise<Conversation> {
  const { directory, deps } = options
  const late: { journal?: Journal; conversation?: Conversation } = {}
  const log = await openLog({
    directory,
    kinds: eventKinds,
    cache: deps.cache,
    lineLimitBytes: deps.eventLimitBytes,
    files: deps.files ?? nodeFiles,
    onCommit: (lines) => late.journal?.committed(lines),
    onDamage: (damage) => {
      const about = { directory, damage: JSON.stringify(damage) }
      deps.diagnostics.error('A damaged part of a log was set aside', about)
    },
  })
  try {
    const state = await foldLog(log, { from: await readCachedState(directory, log) })
    const feed = new Feed(log, deps.readerLimit, deps.readingTurns)
    const journal = new Journal({
      log,
      feed,
      state,
      nextStamp: createStamper(deps.clock, deps.random, state.last_micros),
      backlogLimitBytes: deps.backlogLimitBytes,
      onChange: () => options.onChange(journal.state),
      onFailure: () => late.conversation?.logFailed(),
    })
    late.journal = journal
    endOrphanedRun(journal, killed)
    endOrphanedGoal(journal)
    // On a full disk the conversation is served all the same. The repair is recorded when the log accepts lines again.
    await journal.durable().catch(ignore)
    await deps.prepareAgent?.(state.agent)
    late.conversation = assemble(options, { log, feed, journal })
    return late.conversation
  } catch (thrown) {
    await log.close()
    throw thrown
  }
}

function assemble(
  { directory, deps }: OpenOptions,
  parts: { readonly log: ConversationLog; readonly feed: Feed; readonly journal: Journal },
): Conversation {
  const { log, journal } = parts
  const { clock, random, diagnostics, reserve, mask, createMaskingStream } = deps
  const { eventLimitBytes, confirmationDeadlineMs, stopLimitMs } = deps
  return new Conversation({
    ...parts,
    directory,
    observationsDir: `${directory}/observations`,
    agentDir: `${directory}/acp`,
    clock,
    random,
    diagnostics: withFields(diagnostics, { conversation_id: journal.state.id }),
    reserve,
    eventLimitBytes,
    confirmationDeadlineMs,
    stopLimitMs,
    mask,
    createMaskingStream,
    titleByProfile: deps.titleByProfile,
    secrets: deps.secrets,
    onClosed: () => deps.onClosed(journal.state.id),
    createAgent: (host) => deps.createAgent(journal.state.agent, host),
    saveState: () => writeState(directory, { line: log.head, state: journal.state }),
  })
}

function ignore(): void {}
