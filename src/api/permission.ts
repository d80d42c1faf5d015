/**
 * Decides whether the holder of a key may make a request.
 *
 * A key needs the right of the route (`access.ts`). For a key that is restricted to a tag, a conversation without this
 * tag (`HasTag`) looks missing, and a route without a conversation in its path needs `isForRestricted`.
 */
import { allRights, scopeOf, type Right } from '../access.ts'
import { AppError } from '../base/errors.ts'
import type { Principal, Tag } from '../http/principal.ts'
import { uuid } from '../http/query.ts'
import type { PathParameters } from '../http/router.ts'
import type { ExposeMode } from '../settings/expose.ts'

/** True when the conversation, or one of its 19 nearest ancestors, has the tag. */
export type HasTag = (conversationId: string, tag: Tag) => boolean

function withoutKey(name: string, rights: ReadonlySet<string>): Principal {
  return { name, keyId: undefined, rights, tag: undefined, hold: () => () => undefined }
}

/** The holder of a session key, who has all rights except `open` and `init`. */
export const owner = withoutKey('session key', allRights)
/** Every client of a server that asks for no key. */
export const anyone = withoutKey('no key', allRights)
/** A client of a route with the right `open` or `init`, where no session key or named key is checked. */
export const stranger = withoutKey('stranger', new Set())

/** The members of a route that say who may use it. */
export interface Guarded {
  readonly right: Right
  /** True if a key that is restricted to a tag may use the socket, or the route without a conversation in its path. */
  readonly isForRestricted: boolean
}

/** @throws AppError `forbidden`, `not_found` for a conversation without the tag of the key */
export function assertAllowed(
  principal: Principal, route: Guarded, parameters: PathParameters, hasTag: HasTag,
): void {
  assertRight(principal, route.right)
  const { tag } = principal
  if (tag === undefined) return
  const named = parameters['conversation_id']
  if (named === undefined) {
    if (!route.isForRestricted) throw restricted(principal, tag)
    return
  }
  const read = uuid().read([named])
  const id = read.ok ? read.value : undefined
  if (id === undefined || !hasTag(id, tag)) throw hidden(id ?? named)
}

/** @throws AppError `forbidden`, which names the scope that the key lacks */
export function assertRight({ name, rights }: Principal, right: Right): void {
  if (right === 'open' || right === 'init' || rights.has(right)) return
  throw new AppError('forbidden', `The key "${name}" lacks the scope "${scopeOf[right]}", which this request needs`)
}

/**
 * Returns `mode` if the key may see secrets in this mode. `plaintext` needs the right `secrets`. For `encrypted` the
 * right `drive` is enough: only this server can decrypt the values.
 * @throws AppError `forbidden`
 */
export function assertMayExpose({ principal }: { readonly principal: Principal }, mode: ExposeMode): ExposeMode {
  if (mode === 'plaintext') assertRight(principal, 'secrets')
  if (mode === 'encrypted') assertRight(principal, 'drive')
  return mode
}

/** Returns a filter of conversations for a key that is restricted to a tag; undefined for any other key. */
export function filterFor({ tag }: Principal, hasTag: HasTag): ((id: string) => boolean) | undefined {
  return tag === undefined ? undefined : (id) => hasTag(id, tag)
}

/** Adds the tag of a restricted key to tags of a request. @throws AppError `forbidden` for another value of the tag */
export function withOwnTag(principal: Principal, tags: Readonly<Record<string, string>>): Record<string, string> {
  const { tag } = principal
  if (tag === undefined) return { ...tags }
  const { [tag.name]: given = tag.value } = tags
  if (given !== tag.value) throw restricted(principal, tag)
  return { ...tags, [tag.name]: tag.value }
}

/** Returns the error for a conversation that is missing, or that the key may not see. */
export function hidden(id: string): AppError {
  return new AppError('not_found', `Conversation not found: ${id}`)
}

function restricted({ name }: Principal, tag: Tag): AppError {
  return new AppError('forbidden', `The key "${name}" is for conversations with the tag ${tag.name}=${tag.value} only`)
}
