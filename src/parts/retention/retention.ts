/**
 * Removes the conversations that exceed the limits of retention, one after the other.
 *
 * A whole family (families.ts) stays if a member has the tag `keep`, is in memory, is unreadable or has unfinished
 * work. If the removal of a member fails, the ancestors of this member stay too.
 */
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, errorOf, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/stamp.ts'
import type { UnusedConversations } from '../../conversation/list/unused.ts'
import type { ListEntry } from '../../conversation/list/sorted-entries.ts'
import type { Trail } from '../../http/trail.ts'
import type { Judged, Retention } from '../../offers.ts'
import {
  dueFamilies, familiesOf, hasLimit, keepTag, type DueFamily, type Family, type RetainLimits,
} from './families.ts'
import { folderBytes } from './folder-size.ts'
import { waitingWork } from './waiting.ts'

export interface RemoverOptions {
  readonly limits: RetainLimits
  readonly conversations: UnusedConversations
  readonly dataDir: string
  readonly clock: Clock
  readonly log: Log
  readonly trail: Trail
}

export class Remover implements Retention {
  readonly #options: RemoverOptions
  /** Settles when the last call of `prune` has ended. The next call waits for it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: RemoverOptions) {
    this.#options = options
  }

  prune(signal: AbortSignal): Promise<readonly Judged[]> {
    const pass = this.#last.then(() => this.#prune(signal))
    this.#last = pass.catch(() => undefined) // The caller gets the error of its own pass.
    return pass
  }

  /** Resolves when no call of `prune` is under way. */
  async idle(): Promise<void> {
    await this.#last
  }

  async #prune(signal: AbortSignal): Promise<readonly Judged[]> {
    const { limits, conversations, clock } = this.#options
    if (!hasLimit(limits)) throw noLimit()
    const sizes = new Map<string, number>()
    const families = familiesOf(conversations.entries())
    if (limits.bytes > 0) for (const family of families) await this.#measure(family, sizes, signal)
    const bytesOf = (family: Family): number => sum(family.members.map(({ id }) => sizes.get(id) ?? 0))
    const judged: Judged[] = []
    for (const family of dueFamilies(families, limits, bytesOf, clock())) {
      await nextTurn()
      await this.#measure(family, sizes, signal)
      const stays = await this.#reasonToStay(family)
      const ended = stays === undefined ? await this.#removeAll(family, sizes) : undefined
      judged.push(...family.members.map((entry) => {
        return judgedOf(entry, family.why, sizes, stays ?? ended?.get(entry.id) ?? null)
      }))
    }
    return judged
  }

  async #measure({ members }: Family, sizes: Map<string, number>, signal: AbortSignal): Promise<void> {
    for (const { id } of members) {
      signal.throwIfAborted()
      if (sizes.has(id)) continue
      sizes.set(id, await folderBytes(join(this.#options.dataDir, 'conversations', id), signal))
    }
  }

  async #reasonToStay({ members, isKept }: Family): Promise<string | undefined> {
    const { conversations } = this.#options
    if (isKept) return keptReason
    for (const { id } of members) {
      if (conversations.isOpen(id)) return 'it, or a conversation below it, is in memory: in use, or used recently'
      const state = await conversations.state(id).catch(() => undefined) // An unreadable conversation stays.
      const reason = state === undefined ? 'it cannot be read' : waitingWork(state)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /**
   * Removes the conversations of a family, the newest first. Returns, by id, why some could not be removed.
   * @throws AppError of the audit trail
   */
  async #removeAll({ members, why }: DueFamily, sizes: ReadonlyMap<string, number>): Promise<Map<string, string>> {
    const { conversations, log, trail } = this.#options
    const left = new Map<string, string>()
    for (const entry of [...members].reverse()) {
      const { id } = entry
      if (members.some(({ parentId, id: below }) => parentId === id && left.has(below))) {
        left.set(id, 'a conversation below it stays')
        continue
      }
      const end = await trail.writer?.begin(deedOf(id))
      try {
        const kept = await conversations.remove(entry)
        end?.(200)
        const worktree = kept === undefined ? {} : { kept_worktree: kept }
        log.info('A conversation was removed by retention', {
          conversation_id: id, why, bytes: sizes.get(id) ?? 0, ...worktree,
        })
      } catch (thrown) {
        end?.(thrown instanceof AppError && thrown.code === 'conflict' ? 409 : 500)
        left.set(id, messageOf(thrown))
        log.warn('Retention could not remove a conversation', { conversation_id: id, error: errorOf(thrown) })
      }
    }
    return left
  }
}

export const keptReason = `it, or a conversation below it, has the tag "${keepTag}"`

export function noLimit(): AppError {
  const expected = 'expected --retain-days, --retain-count or --retain-bytes'
  return new AppError('invalid_option', `Could not use prune without a limit: ${expected}`)
}

export function judgedOf(
  { id, updatedAt }: ListEntry, why: string, sizes: ReadonlyMap<string, number>, stays: string | null,
): Judged {
  return { id, last_activity: updatedAt, bytes: sizes.get(id) ?? 0, why, stays }
}

/** Returns the audit entry of a removal. The name in `by` has spaces, so no named key can have it. */
function deedOf(id: string): Parameters<NonNullable<Trail['writer']>['begin']>[0] {
  return {
    by: { name: 'retention of the server', keyId: undefined },
    address: undefined,
    operation: 'DELETE /api/conversations/{conversation_id}',
    target: { conversation_id: id },
    requestId: undefined,
    isGrave: true,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
