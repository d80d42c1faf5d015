/** The form in which named keys are shown: without the digest. */
import { scopes, scopeOf } from '../../access.ts'
import type { Principal } from '../../http/principal.ts'
import type { StoredKey } from './key-files.ts'

export interface ShownKey {
  readonly name: string
  readonly id: string
  readonly scopes: readonly string[]
  readonly tag: Readonly<Record<string, string>> | null
  readonly created_at: string
  readonly max_conversations: number | null
  readonly max_runs: number | null
  readonly max_disk_bytes: number | null
  readonly expires_at: string | null
  readonly is_expired: boolean
}

export function shownKey(
  { name, id, scopes: own, tag, created, expires, limits }: StoredKey, now: number,
): ShownKey {
  return {
    name, id, scopes: own,
    tag: tag === undefined ? null : { [tag.name]: tag.value },
    max_conversations: limits.conversations ?? null,
    max_runs: limits.runs ?? null,
    max_disk_bytes: limits.diskBytes ?? null,
    created_at: new Date(created).toISOString(),
    expires_at: expires === undefined ? null : new Date(expires).toISOString(),
    is_expired: expires !== undefined && now >= expires,
  }
}

export function shownHolder({ name, keyId, rights, tag }: Principal): object {
  const own = Object.entries(scopeOf).filter(([right]) => rights.has(right)).map(([, scope]) => scope)
  return {
    name,
    id: keyId ?? null,
    scopes: scopes.filter((scope) => own.includes(scope)),
    tag: tag === undefined ? null : { [tag.name]: tag.value },
  }
}
