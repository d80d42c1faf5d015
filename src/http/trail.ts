/**
 * The core's side of the audit trail: a writer gets each change before the change is made, and then the result.
 *
 * A part that keeps the trail sets `Trail.writer`; without it nothing is recorded. The writer gets no body, no query,
 * no header and no value of a secret.
 */
import type { Principal } from './principal.ts'

/** A request that changes something or shows secret values. */
export interface Deed {
  readonly by: Pick<Principal, 'name' | 'keyId'>
  /** The address of the peer: of the proxy, if there is one. */
  readonly address: string | undefined
  /** The method and the pattern of the route, such as `POST /api/conversations`. */
  readonly operation: string
  /** The parameters of the path, by name. */
  readonly target: Readonly<Record<string, string>>
  readonly requestId: string | undefined
  /** True when the request needs a right of the scopes `configure` or `admin`. */
  readonly isGrave: boolean
}

/** Records the result of a deed. `subject` is a name from the body: of the secret that the request stored. */
export type EndDeed = (status: number, subject?: string) => void

export interface TrailWriter {
  /** Records a deed, which may begin when the promise resolves. @throws AppError when the deed must not begin */
  begin(deed: Deed): Promise<EndDeed>
  /** Records that an agent got the values of these secrets. */
  secretsUsed(conversationId: string, names: readonly string[]): void
  /** Records an event that is no request, such as the addition of a key by a command. */
  note(event: string, name: string): void
}

export class Trail {
  writer: TrailWriter | undefined
}
