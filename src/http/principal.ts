/**
 * Who makes a request: the holder of a key, with a name for logs and the rights of the key.
 *
 * The part that stores named keys (parts/keys) sets `NamedKeys.source`.
 */

export interface Principal {
  /** The name of the key, for example for logs. The name of a named key has no space. */
  readonly name: string
  /** The id of a named key; undefined for a session key, and where no key is required. */
  readonly keyId: string | undefined
  readonly rights: ReadonlySet<string>
  /** The key is restricted to conversations with this tag; undefined for a key without this restriction. */
  readonly tag: Tag | undefined
  /** Calls `end` when the key is revoked or expires. The returned function cancels this call. */
  hold(end: () => void): () => void
}

/** A tag of conversations: a member of `tags`. */
export interface Tag {
  readonly name: string
  readonly value: string
}

/** The limits of a named key. A member is undefined when the key has no such limit. */
export interface KeyLimits {
  /** The most conversations that the key has created and that still exist. */
  readonly conversations: number | undefined
  /** The most runs at a time in the conversations that the key has created. */
  readonly runs: number | undefined
  /** The most bytes that the conversations created with the key may use on the disk. */
  readonly diskBytes: number | undefined
}

/** Returns the name of a principal's named key; undefined for a principal without a named key. */
export function makerOf({ name, keyId }: Principal): string | undefined {
  return keyId === undefined ? undefined : name
}

export interface NamedKeySource {
  /** Returns the holder of a key that is valid now; undefined for any other text. */
  find(candidate: string): Principal | undefined
  /** Returns the holder of the key with this id, if it is valid now. */
  byId(id: string): Principal | undefined
  /** Returns the limits of the key with this name; undefined when it does not exist. */
  limitsOf(name: string): KeyLimits | undefined
  /** Returns the names and limits of all named keys, valid or expired. */
  list(): readonly { readonly name: string; readonly limits: KeyLimits }[]
}

export class NamedKeys {
  source: NamedKeySource | undefined
}

export interface KeyRing {
  /** Returns the holder of a valid key; undefined for any other text. */
  find(candidate: string): Principal | undefined
}
