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
   * Removes the worktree that contains a folder, unless a conversation works in it (`isUsed`). An unused worktree stays
   * if it has changes or commits of its own, or cannot be removed. Then its path is returned. Must not reject.
   */
  readonly releaseWorktree?: (folder: string, isUsed: IsUsed) => Promise<string | undefined>
  /** Returns true while this server owns the data folder. Otherwise `close` writes no list file. Default: true. */
  readonly isOwner?: () => boolean
  /** The followers of all conversations. Default: no followers. */
  readonly followers?: ReadonlySet<ConversationFollower>
}

/** True when a conversation works in the folder or in a folder inside it. */
export type IsUsed = (folder: string) => boolean
