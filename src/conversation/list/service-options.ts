/** The options of the service of all conversations. */
import type { Catalogue } from '../../storage/catalogue.ts'
import type { ConversationDeps } from '../opening.ts'
import type { ConversationFollower } from './followers.ts'

export interface ServiceOptions {
  readonly catalogue: Catalogue
  readonly deps: ConversationDeps
  /** Idle time, in milliseconds, after which a conversation and its agent are closed. */
  readonly idleTimeoutMs: number
  /**
   * Removes the worktree that contains a folder, unless a conversation works in the worktree (`isUsed`). Returns the
   * path of an unused worktree that stays, for example because it has changes or commits of its own. Must not reject.
   */
  readonly releaseWorktree?: (folder: string, isUsed: IsUsed) => Promise<string | undefined>
  /** True while this server owns the data folder. If false, `close` skips the calls of `closing` and the list file. */
  readonly isOwner?: () => boolean
  /** The followers of all conversations. Default: no followers. */
  readonly followers?: ReadonlySet<ConversationFollower>
}

/** True when a conversation works in the folder or in a folder inside it. */
export type IsUsed = (folder: string) => boolean
