/** The figures of a server for operators: its present load, and its work since the start. */
import type { ConversationsLoad } from './conversation/list/load.ts'
import type { ConversationService } from './conversation/list/service.ts'
import { createReadLimiter } from './conversation/log/feed.ts'
import { Work } from './conversation/log/work.ts'
import { Written } from './storage/written.ts'

export interface ServerLoad {
  readonly conversations: ConversationsLoad
  readonly work: Work
  readonly written: Readonly<Written>
  readonly agents: AgentsLoad
  /** The number of reads of conversations' logs that wait, because too many others run. */
  readonly readsWaiting: number
  /** The figures of the parts that have been started. */
  readonly parts: readonly PartFigure[]
}

/** A figure of a part (an optional module), such as the length of a queue. */
export interface PartFigure {
  /** Lower-case letters and underscores, for the metric `agent_server_<name>`. A counter's name ends with `_total`. */
  readonly name: string
  readonly type: 'gauge' | 'counter'
  /** A sentence that says what the figure counts or measures. */
  readonly about: string
  readonly value: number
}

/** The numbers of running and of waiting external agents. `limit` is the most that run at once. */
export interface AgentsLoad {
  readonly running: number
  readonly waiting: number
  readonly limit: number
}

/** The counters and the limiter of reads (`readLimiter`) that all conversations of a server share. */
export class Counts {
  readonly work = new Work()
  readonly written = new Written()
  readonly readLimiter = createReadLimiter()

  load(
    service: ConversationService, { running, waiting, limit }: AgentsLoad, parts: readonly PartFigure[],
  ): ServerLoad {
    const { work, written, readLimiter } = this
    const agents = { running, waiting, limit }
    return { conversations: service.load(), agents, readsWaiting: readLimiter.waiting, work, written, parts }
  }
}
