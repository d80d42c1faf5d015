/**
 * The core's side of the audit trail: a writer gets each deed (`Deed`) before the deed begins, and then its result.
 *
 * The part that stores the trail (parts/audit) sets `Trail.writer`. The writer gets no value of a secret.
 */
import type { Principal } from './principal.ts'

/** What the trail records: a request (see `deedOf`), a message on a socket, or a removal by `parts/retention`. */
export interface Deed {
  readonly by: Pick<Principal, 'name' | 'keyId'>
  /** The address of the client or of its proxy. */
  readonly address: string | undefined
  /** The method and the pattern of the route, such as `POST /api/conversations`. */
  readonly operation: string
  /** The parameters of the path, by name. */
  readonly target: Readonly<Record<string, string>>
  readonly requestId: string | undefined
  /** True if the deed needs the scope `configure` or `admin`, asks for secrets, or comes from `parts/retention`. */
  readonly isGrave: boolean
}

/** Records the result of a deed. `subject` is the name of the secret that the request stored, if any. */
export type EndDeed = (status: number, subject?: string) => void

export interface TrailWriter {
  /** Records a deed. The deed may begin when the promise resolves. @throws AppError if the deed must not begin */
  begin(deed: Deed): Promise<EndDeed>
  /** Records that an agent got the values of these secrets. */
  secretsUsed(conversationId: string, names: readonly string[]): void
  /** Records a change of a named key, such as `key revoked`. `name` is the name of the key. */
  note(event: string, name: string): void
}

export class Trail {
  writer: TrailWriter | undefined
}
