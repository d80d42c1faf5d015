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
   * Removes the worktree that contains a folder. A worktree that is used (`isUsed`) or has changes is kept, and its
   * path is returned. Never fails.
   */
  readonly releaseWorktree?: (folder: string, isUsed: IsUsed) => Promise<string | undefined>
  /** Returns true while this server owns the data folder. Only then `close` writes the list file. Default: true. */
  readonly isOwner?: () => boolean
  /** The followers of all conversations. Default: no followers. */
  readonly followers?: ReadonlySet<ConversationFollower>
}

/** True when a conversation works in the folder or in a folder inside it. */
export type IsUsed = (folder: string) => boolean
